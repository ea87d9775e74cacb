"""Networks as text files, for the tests and the benchmark of the interactive page."""
import os

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "models")


def golden(name, path):
    """A network of tests/golden/models: module tree, declarations and graph in one file; gives its input's sizes."""
    with open(path, "w") as out:
        out.write(open(f"{MODELS}/{name}.modules.txt").read())
        for line in open(f"{MODELS}/{name}.params.tsv"):
            kind, param, dtype, sizes = line.rstrip("\n").split("\t")
            if "." not in param:
                out.write(f"{kind} {param}: torch.{dtype}{sizes}\n")
        out.write(open(f"{MODELS}/{name}.graph.txt").read())
    shape = open(f"{MODELS}/{name}.inputs.txt").readline()
    return "x".join(shape[shape.index("[") + 1 : shape.index("]")].split(", "))


def residual(nodes, path, modules=True):
    """About so many nodes of residual blocks, ten in each; without modules the graph is flat. Gives its input's sizes."""
    blocks = nodes // 10
    with open(path, "w") as out:
        out.write("Net(\n  (blocks): ModuleList(\n" if modules else "Net(\n")
        for i in range(blocks if modules else 0):
            out.write(f"    ({i}): Block(\n")
            for layer in "abc":
                out.write(f"      ({layer}): Linear(in_features=8, out_features=8, bias=True)\n      ({layer}n): ReLU()\n")
            out.write("    )\n")
        out.write("  )\n)\n" if modules else ")\n")
        out.write("graph():\n    %x : [#users=2] = placeholder[target=x]\n")
        value = "x"
        for i in range(blocks):
            last = value
            for layer in "abc":
                for kind, torch in ((layer, "torch.sin"), (layer + "n", "torch.relu")):
                    name = f"blocks_{i}_{kind}"
                    call = f"call_module[target=blocks.{i}.{kind}]" if modules else f"call_function[target={torch}]"
                    out.write(f"    %{name} : [#users=1] = {call}(args = (%{last},), kwargs = {{}})\n")
                    last = name
            for kind, other in (("add", value), ("mul", f"blocks_{i}_an"), ("sub", last), ("last", value)):
                name = f"blocks_{i}_{kind}"
                operator = {"last": "add"}.get(kind, kind)
                out.write(f"    %{name} : [#users=1] = call_function[target=operator.{operator}](args = (%{last}, %{other}), kwargs = {{}})\n")
                last = name
            value = last
        out.write(f"    return {value}\n")
    return "2x8"


def pairs(n, path):
    """n pairs of blocks, the second of which is not as the first. Gives its input's sizes."""
    with open(path, "w") as out:
        out.write("Net(\n  (blocks): ModuleList(\n")
        for i in range(2 * n):
            inner, outer = ((8, 4), (4, 8))[i % 2]
            out.write(f"    ({i}): Block(\n      (a): Linear(in_features={inner}, out_features={outer}, bias=True)\n      (b): ReLU()\n    )\n")
        out.write("  )\n)\ngraph():\n    %x : [#users=1] = placeholder[target=x]\n")
        value = "x"
        for i in range(2 * n):
            for part in "ab":
                name = f"blocks_{i}_{part}"
                out.write(f"    %{name} : [#users=1] = call_module[target=blocks.{i}.{part}](args = (%{value},), kwargs = {{}})\n")
                value = name
        out.write(f"    return {value}\n")
    return "2x8"
