"""The programs that run on a device, in Triton; who starts them says what they compute."""
