"""einops.layers"""
