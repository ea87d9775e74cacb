"""A training script: only its definitions matter for a picture."""
import argparse

import torch
import torch.nn as nn
import torchvision.transforms as transforms
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument('--latent', type=int, default=8)
parser.add_argument('--data', required=False, default='/nowhere')
opt = parser.parse_args()
cuda = torch.cuda.is_available()


class Images(Dataset):
    def __init__(self, root):
        self.files = open(root)


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()
        self.model = nn.Sequential(nn.Linear(opt.latent, 16), nn.BatchNorm1d(16, 0.8),
                                   nn.LeakyReLU(0.2, inplace=True), nn.Linear(16, 12), nn.Tanh())

    def forward(self, z):
        img = self.model(z)
        img = img.view(img.size(0), 3, 2, 2)
        return img


generator = Generator()
if cuda:
    generator.cuda()
loader = DataLoader(Images(opt.data), batch_size=4)
optimizer = torch.optim.Adam(generator.parameters(), lr=1e-3)
for epoch in range(3):
    for i, batch in enumerate(loader):
        optimizer.zero_grad()
