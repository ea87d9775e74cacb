from torch import nn


class Dicts(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Conv2d(3, 4, 1)
        self.text = nn.Linear(5, 4)

    def forward(self, batch):
        image = self.image(batch['image']).mean((2, 3))
        text = self.text(batch['text'])
        return {'image': image, 'text': text, 'both': [image + text, (image, text)]}
