module blockyard

go 1.25.0
