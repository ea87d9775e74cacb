"""torch.fx: symbolic tracing, and graphs to look at, change and run."""
from torch.fx.immutable_collections import immutable_dict, immutable_list
from torch.fx.node import Node, has_side_effect, map_aggregate, map_arg
from torch.fx.graph import CodeGen, Graph
from torch.fx.proxy import Proxy
from torch.fx._symbolic_trace import (PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap)
from torch.fx.graph_module import GraphModule
from torch.fx.interpreter import Interpreter, Transformer
from torch.fx.subgraph_rewriter import replace_pattern
from torch.fx import passes
from torch.fx import _hints, operator_schemas
