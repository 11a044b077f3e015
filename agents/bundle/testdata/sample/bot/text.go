package main

const text = ""
