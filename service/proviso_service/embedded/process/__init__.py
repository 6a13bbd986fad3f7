"""The embedded models in processes of their own, so that they and the service's event loop use two cores.

`pool.py` is the service's side: it starts the processes, shares the calls out, and starts one anew that has ended.
`ports.py` has the ports of the models over it. A process (`python -m proviso_service.embedded.process`) runs the same
models as the service would, and serves any number of calls at a time. What passes between them is in `messages.py`.
"""
