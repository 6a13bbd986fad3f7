import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";

/** The network between browser and gateway: a TCP proxy on loopback that can be cut. */
export class Network {
  private readonly open = new Set<Socket>();
  private isCut = false;

  private constructor(
    private readonly server: Server,
    private readonly targetPort: number,
  ) {
    server.on("connection", (socket) => {
      this.carry(socket);
    });
  }

  static async before(url: string): Promise<Network> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Network(server, Number(new URL(url).port));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Cuts every connection, and carries none until it is mended. */
  cut(): void {
    this.isCut = true;
    for (const socket of this.open) socket.destroy();
  }

  mend(): void {
    this.isCut = false;
  }

  async close(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, "close");
  }

  private carry(browser: Socket): void {
    if (this.isCut) {
      browser.destroy();
      return;
    }
    const gateway = connect(this.targetPort, "127.0.0.1");
    for (const [end, other] of [
      [browser, gateway],
      [gateway, browser],
    ] as const) {
      this.open.add(end);
      end.on("error", () => undefined);
      end.on("close", () => {
        this.open.delete(end);
        other.destroy();
      });
      end.pipe(other);
    }
  }
}
