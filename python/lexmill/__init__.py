from lexmill._core import ping
