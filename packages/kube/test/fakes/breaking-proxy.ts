import net from 'node:net';
import type { AddressInfo } from 'node:net';

export type ProxyMood =
  | 'pass'
  /** Connections are cut, sometimes in the middle of an answer. */
  | 'cut'
  /** Nothing arrives any more, and nothing says so. */
  | 'silent'
  /** Nobody answers. */
  | 'refuse';

/** A TCP proxy in front of a server that breaks connections when the test asks for it. */
export class BreakingProxy {
  mood: ProxyMood = 'pass';
  connections = 0;
  readonly #server: net.Server;
  readonly #pairs = new Set<{ client: net.Socket; upstream: net.Socket; silenced: boolean }>();
  readonly #target: number;
  readonly #random: () => number;

  constructor(targetPort: number, random: () => number) {
    this.#target = targetPort;
    this.#random = random;
    this.#server = net.createServer((client) => this.#accept(client));
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  set(mood: ProxyMood): void {
    this.mood = mood;
    for (const pair of this.#pairs) {
      if (mood === 'silent') pair.silenced = true;
      if (mood === 'cut' || mood === 'refuse') pair.client.destroy();
    }
  }

  async close(): Promise<void> {
    for (const { client } of this.#pairs) client.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: net.Socket): void {
    this.connections += 1;
    if (this.mood === 'refuse') {
      client.destroy();
      return;
    }
    const upstream = net.connect(this.#target, '127.0.0.1');
    const pair = { client, upstream, silenced: this.mood === 'silent' };
    this.#pairs.add(pair);
    const end = (): void => {
      this.#pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      socket.on('error', end);
      socket.on('close', end);
    }
    client.on('data', (chunk) => void (pair.silenced || upstream.write(chunk)));
    upstream.on('data', (chunk) => {
      if (pair.silenced) return;
      if (this.mood === 'cut' && this.#random() < 0.2) {
        client.write(chunk.subarray(0, chunk.length / 2), end);
        return;
      }
      client.write(chunk);
    });
  }
}
