import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";

/** A TCP proxy on loopback that cuts connections, or lets them fall silent. */
export class Proxy {
  /** Connections that were cut. */
  cuts = 0;
  private readonly open = new Set<Socket>();
  private budgets: number[] = [];
  private readonly hushed = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly targetPort: () => number,
  ) {
    server.on("connection", (socket) => {
      this.carry(socket);
    });
  }

  /** A proxy to a port, which is asked for at each connection. */
  static async to(targetPort: () => number): Promise<Proxy> {
    const server = createServer();
    const proxy = new Proxy(server, targetPort);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return proxy;
  }

  get url(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Cuts the next connections, one each, when so many bytes have come from the service; carries later ones whole. */
  cutAfter(...bytes: number[]): void {
    this.budgets = bytes;
    this.cutNow();
  }

  /** Cuts every connection. */
  cutNow(): void {
    for (const socket of this.open) socket.destroy();
    this.open.clear();
  }

  /** Every connection stays open, but carries nothing any more: as when the other end has lost its power. */
  hushNow(): void {
    for (const socket of this.open) this.hushed.add(socket);
  }

  async close(): Promise<void> {
    this.cutNow();
    this.server.close();
    await once(this.server, "close");
  }

  private carry(socket: Socket): void {
    const service = connect(this.targetPort(), "127.0.0.1");
    const both = [socket, service];
    let left = this.budgets.shift() ?? Infinity;
    for (const end of both) {
      this.open.add(end);
      end.on("error", () => undefined);
      end.on("close", () => {
        for (const other of both) other.destroy();
        for (const gone of both) [this.open, this.hushed].forEach((sockets) => sockets.delete(gone));
      });
    }
    socket.on("data", (data) => {
      if (!this.hushed.has(socket)) service.write(data);
    });
    service.on("data", (data) => {
      if (this.hushed.has(socket)) return;
      socket.write(data.subarray(0, left));
      left -= data.length;
      if (left > 0) return;
      this.cuts += 1;
      socket.destroySoon();
    });
  }
}
