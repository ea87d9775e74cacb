#!/bin/sh
# ops: the operator table, whole and filtered.
. "${0%/*}/lib.sh"
expect 0 ops
silent
prints "conv2d"
prints "Linear"
all=$(wc -l <out)
expect 0 ops conv2d
prints "torch.conv2d"
check "a filter keeps a part" test "$(wc -l <out)" -lt "$all"
expect 0 ops no_such_operator
prints "0 operators, 0 layers"

# Types come from asking the rows: a product takes floats, a shift takes integers alone.
expect 0 ops
check "an embedding takes weights of floats" grep -q "^embedding  *embedding  *float half int" out
check "what needs values says so" sh -c 'grep "^regions of images  *nms " out | grep -q " EXECUTE " && ! grep "^regions of images  *nms " out | grep -q META'
check "the types of tensors of other shapes are found" grep -q "^regions of images  *roi_align  *float half  *META EXECUTE" out
check "matmul takes floating point numbers" grep -q "^matmul  *matmul  *float half" out
check "the types of rows whose sizes depend on each other are told" grep -q " lstm_cell  *float half complex  *META EXECUTE" out
check "a shift of bools alone is none" sh -c 'grep " shift_left .*(Tensor self" out | grep -q " int  *META"'
check "gcd takes integers" grep -q " gcd  *int  *META EXECUTE" out

printf 'torch.relu 1\ntorch.linalg.det\nF.gelu\nnn.Linear\ntorch.save\nTensor.add_\n' >names
expect 0 ops --coverage names
prints "6 names: 5 covered, 1 no operations, 0 missing"
prints "torch.save: reads or writes files"
printf '[["torch.relu", 3, 4], ["torch.no_such", 1, 1]]\n' >names.json
expect 0 ops --coverage names.json
prints "2 names: 1 covered, 0 no operations, 1 missing"

# What a graph reads with getattr is covered; what there is not is told by its reason, or missing.
printf 'Tensor.shape\nTensor.mT\nTensor.no_such\ntorch.sparse_coo_tensor\nTensor.q_scale\ntorch.LongStorage\n' >names
expect 0 ops --coverage names
prints "6 names: 2 covered, 3 no operations, 1 missing"
prints "Tensor.q_scale: quantized tensors are not supported"
expect 1 ops --coverage no_such_file
says "no_such_file"
finish
