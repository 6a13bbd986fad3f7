type Init = Omit<RequestInit, "headers"> & { headers?: Record<string, string> };

/** A person's browser as far as signing in needs it: cookies by host, and forms of the provider. */
export class Person {
  private readonly cookies = new Map<string, Map<string, string>>();
  /** The Set-Cookie headers that have come. */
  readonly set: string[] = [];

  /** `publicUrl` is the origin that the gateway at `gatewayUrl` goes by. */
  constructor(
    private readonly gatewayUrl: string,
    private readonly publicUrl: string,
  ) {}

  /** Asks for a path of the gateway, or any address, without following where it leads. */
  async go(address: string, init: Init = {}): Promise<Response> {
    const url = new URL(address, this.publicUrl);
    const jar = this.jar(url.host);
    const cookie = Array.from(jar, ([name, value]) => `${name}=${value}`).join("; ");
    const at = url.origin === this.publicUrl ? this.gatewayUrl + url.pathname + url.search : url;
    const response = await fetch(at, { ...init, headers: { ...init.headers, cookie }, redirect: "manual" });
    for (const text of response.headers.getSetCookie()) {
      this.set.push(text);
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      if (value === "") jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** The JSON of an answer. */
  async json(path: string, init?: Init): Promise<Record<string, unknown>> {
    return (await (await this.go(path, init)).json()) as Record<string, unknown>;
  }

  /** Begins a sign-in; answers with the address at the provider. */
  async begin(query = ""): Promise<URL> {
    return new URL(location(await this.go(`/sign-in${query}`)));
  }

  /** Signs in with the provider, from the address that the gateway gave; answers with the one that leads back. */
  async atProvider(start: URL, name: string): Promise<string> {
    let address = start.href;
    while (!address.startsWith(`${this.publicUrl}/`)) {
      const response = await this.go(address);
      if (response.status < 400 && response.headers.has("location")) {
        address = new URL(location(response), address).href;
        continue;
      }
      const prompt = /name="prompt" value="(\w+)"/.exec(await response.text())?.[1] ?? "";
      const body = new URLSearchParams({ prompt, login: name, password: "any" });
      address = new URL(location(await this.go(address, { method: "POST", body })), address).href;
    }
    return address;
  }

  /** Signs in, from beginning to end; answers with what the gateway says to the way back. */
  async signIn(name: string, query = ""): Promise<Response> {
    return this.go(await this.atProvider(await this.begin(query), name));
  }

  private jar(host: string): Map<string, string> {
    const jar = this.cookies.get(host) ?? new Map<string, string>();
    this.cookies.set(host, jar);
    return jar;
  }
}

/** Where a response leads. Throws where it leads nowhere. */
export function location(response: Response): string {
  const to = response.headers.get("location");
  if (to === null) throw new Error(`${response.url}: ${response.status} leads nowhere`);
  return to;
}
