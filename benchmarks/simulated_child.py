"""Simulates iterations with SimGrid; run by the Python that has it, not necessarily Evener's.

    simulated_child.py < cases.json > seconds.json

A case has `hosts` (how many), `links` [bandwidth in B/s, latency in s, whether shared], `routes`
[p, q, numbers of links, each as often as a byte counts there], `messages` [p, q, bytes both ways]
and for every host the seconds `before` the exchange, those it `posts` its messages for, and those
it computes `during` the exchange and `after` it.
"""

import json
import sys

from simgrid import Actor, Comm, Engine, Link, LinkInRoute, NetZone, Semaphore, this_actor

OPTIONS = ["network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0"]


class SimulatedCase:
    def __init__(self, root, number, spec):
        zone = NetZone.create_full_zone(f"case{number}")
        zone.set_parent(root)
        self.hosts = [zone.create_host(f"h{number}.{b}", 1.0) for b in range(spec["hosts"])]
        links = []
        for i, (bandwidth, latency, shared) in enumerate(spec["links"]):
            link = zone.create_link(f"l{number}.{i}", bandwidth).set_latency(latency)
            if not shared:
                link.set_sharing_policy(Link.SharingPolicy.FATPIPE, None)
            links.append(LinkInRoute(link.seal()))
        for p, q, route in spec["routes"]:
            ends = [self.hosts[p].netpoint, self.hosts[q].netpoint]
            zone.add_route(*ends, None, None, [links[i] for i in route], True)
        zone.seal()
        self.spec, self.finish = spec, 0.0
        partners = [0] * len(self.hosts)
        self.ready = {}
        for p, q, _ in spec["messages"]:
            self.ready[p, q] = Semaphore(0)
            for b in (p, q):
                partners[b] += 1
        self.done = [Semaphore(0) for _ in self.hosts]
        for b, host in enumerate(self.hosts):
            Actor.create(f"a{number}.{b}", host, self.device, b, partners[b])
        for p, q, size in spec["messages"]:
            Actor.create(f"m{number}.{p}.{q}", self.hosts[p], self.exchange, p, q, size)

    def device(self, b, partners):
        this_actor.execute(self.spec["before"][b])
        Actor.create("posting", self.hosts[b], self.post, b)
        this_actor.execute(self.spec["during"][b])
        for _ in range(partners):
            self.done[b].acquire()
        this_actor.execute(self.spec["after"][b])
        self.finish = max(self.finish, Engine.clock)

    def post(self, b):
        this_actor.sleep_for(self.spec["posts"][b])
        for ends, ready in self.ready.items():
            if b in ends:
                ready.release()

    def exchange(self, p, q, size):
        for _ in range(2):
            self.ready[p, q].acquire()
        Comm.sendto_async(self.hosts[p], self.hosts[q], size).wait()
        for b in (p, q):
            self.done[b].release()


def main():
    engine = Engine(["simulated", "--log=root.thresh:critical", *(f"--cfg={o}" for o in OPTIONS)])
    root = NetZone.create_full_zone("root")
    cases = [SimulatedCase(root, i, spec) for i, spec in enumerate(json.load(sys.stdin))]
    root.seal()
    engine.run()
    json.dump([case.finish for case in cases], sys.stdout)


main()
