# SPDX-License-Identifier: Apache-2.0
"""Row kernels in Triton and PyTorch, as rivals in `warpwright bench kernels`.

It answers a line for each line that it reads, `ok ...` or `no REASON`:

    hello                             versions of what is used
    prepare KERNEL DTYPE SIZES...     makes the arrays: M N; of rope POSITIONS HEADS DIM; of
                                      flash_attention BATCH SEQ HEADS DIM CAUSAL
    ready WHO                         compiles, checks the result, chooses the best configuration,
                                      and answers with it
    run WHO N                         milliseconds of N launches in a row

WHO is triton, torch (PyTorch as it is) or compiled (torch.compile); of flash_attention, flash or cudnn
(scaled_dot_product_attention with that backend). Ends where its input does.
"""
import gc
import os
import sys

# Standard output is for answers: what libraries print goes to standard error.
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
# Each function is a kernel or two: a pool of compilers takes longer to start than they take.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")


def reply(text):
    print(text, file=ANSWERS, flush=True)


def reason_of(error):
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:400]


try:
    import torch
    sys.dont_write_bytecode = True  # beside this file
    from row_jobs import JOBS, TRITON, milliseconds
except Exception as error:  # also what goes wrong inside them
    sys.stdin.readline()
    reply(f"no {reason_of(error)}")
    sys.exit(0)


# --- time --------------------------------------------------------------------------------------------

def recorded(run, times):
    """A graph of launches, which costs the host nothing; None where they cannot be recorded."""
    try:
        made = torch.cuda.CUDAGraph()
        with torch.cuda.graph(made):
            for _ in range(times):
                run()
        made.replay()
        torch.cuda.synchronize()
        return made
    except Exception:
        torch.cuda.synchronize()
        return None


def timed(job, who, times):
    run = job.made[who]
    if (who, times) not in job.graphs:
        job.graphs[who, times] = recorded(run, times)
    graph = job.graphs[who, times]
    return milliseconds(run, times) if graph is None else milliseconds(graph.replay)


# --- questions ---------------------------------------------------------------------------------------

def prepare(words):
    torch.manual_seed(1)
    return JOBS[words[0]](getattr(torch, words[1]), *map(int, words[2:]))


def ready(job, who):
    if who not in job.rivals():
        raise ValueError(f"unknown rival {who}")
    run, name = job.rivals()[who]()
    with torch.no_grad():
        result = run()
        torch.cuda.synchronize()
        job.check(result)
    job.made[who] = run
    return name


def hello():
    torch.zeros(1, device="cuda")
    return f"torch {torch.__version__}, {TRITON}"


def main():
    job = None
    for line in sys.stdin:
        command, *words = line.split() or [""]
        try:
            if command == "hello":
                answer = hello()
            elif command == "prepare":
                job = None
                gc.collect()  # arrays and functions refer to each other
                torch.cuda.empty_cache()
                job = prepare(words)
                answer = ""
            elif command in ("ready", "run") and job is None:
                raise RuntimeError("nothing is prepared")
            elif command == "ready":
                answer = ready(job, words[0])
            elif command == "run":
                with torch.no_grad():
                    answer = repr(timed(job, words[0], int(words[1])))
            else:
                raise ValueError(f"unknown command {command}")
            reply(f"ok {answer}".rstrip())
        except Exception as error:
            reply(f"no {reason_of(error)}")


if __name__ == "__main__":
    main()
