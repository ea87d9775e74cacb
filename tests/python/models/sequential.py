from collections import OrderedDict

from torch import nn


def block(cin, cout, stride=1):
    return nn.Sequential(OrderedDict([
        ('conv', nn.Conv2d(cin, cout, 3, stride, 1, bias=False)),
        ('bn', nn.BatchNorm2d(cout)),
        ('act', nn.LeakyReLU(0.1, inplace=True))]))


class Classifier(nn.Sequential):
    def __init__(self, classes=10):
        super().__init__(block(3, 8), block(8, 16, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(16, classes))
