"""The wavefronts of one request to shared memory."""


def wavefronts(side, stride_x, stride_y):
    words = []
    for lane in range(32):
        word = lane % side * stride_x + lane // side * stride_y
        if word not in words:
            words.append(word)
    most = 0
    for bank in range(32):
        most = max(most, sum(1 for word in words if word % 32 == bank))
    return most
