"""Gathers changes for one transaction, and delivers them to the sockets of open pages. Read `batching` first.

`batching` gathers the changes of many live turns for one transaction; `live_message` turns changes into swaps of the
page; `frames` and `broadcast` deliver them to the sockets of this process, and through `channel_bridge` to those of
others. `frame_schedule`, `send_window`, `stream_position` and `rate_limiter` bound how much is sent and received;
`socket_revalidation` finds open sockets that have missed a frame or whose permission has ended.
"""
