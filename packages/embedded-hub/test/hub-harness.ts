import type { LooseJson } from './loose-json.ts';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HubOptions, RunningHub } from '../src/hub-options.ts';
import { OCM_HUB_KINDS } from '@berth/ocm/definition/ocm-crds';
import { startHub } from '../src/start-hub.ts';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  // Tests look into answers freely.
  readonly body: LooseJson;
}

export interface Call {
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
  readonly token?: string | null;
  readonly headers?: Record<string, string | string[]>;
  readonly cert?: string;
  readonly key?: string;
}

export interface TestHub {
  readonly hub: RunningHub;
  readonly dataDir: string;
  readonly token: string;
  call(method: string, path: string, options?: Call): Promise<Reply>;
  /** Opens a stream; `next()` gives line after line as JSON. */
  watch(path: string, options?: Call): Promise<TestWatch>;
  restart(over?: Partial<HubOptions>): Promise<void>;
  stop(): Promise<void>;
}

export interface TestWatch {
  readonly headers: IncomingMessage['headers'];
  next(): Promise<LooseJson>;
  /** All lines until the server ends the stream. */
  rest(): Promise<LooseJson[]>;
  close(): void;
}

/** A real hub on a free port with its own data directory; close it with `stop()`. */
export async function startTestHub(over: Partial<HubOptions> = {}): Promise<TestHub> {
  const dataDir = over.dataDir ?? mkdtempSync(join(tmpdir(), 'berth-hub-'));
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const state = { hub: await startHub({ dataDir, kinds: OCM_HUB_KINDS, ...over }) };
  const token = /token: (\S+)/.exec(readFileSync(state.hub.adminKubeconfigPath, 'utf8'))?.[1] ?? '';

  const send = (method: string, path: string, options: Call): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const body = options.body === undefined ? undefined : encode(options.body);
      const own = options.cert === undefined ? agent : new Agent();
      const request = httpsRequest(
        {
          host: '127.0.0.1',
          port: state.hub.port,
          method,
          path,
          ca: state.hub.caPem,
          agent: own,
          ...(options.cert !== undefined && { cert: options.cert, key: options.key }),
          headers: {
            ...(options.token !== null && { authorization: `Bearer ${options.token ?? token}` }),
            ...(body !== undefined && {
              'content-type': options.type ?? 'application/json',
              'content-length': body.length,
            }),
            ...(options.accept !== undefined && { accept: options.accept }),
            'user-agent': 'test/1',
            ...options.headers,
          },
        },
        resolve,
      );
      request.on('error', reject);
      request.end(body);
    });

  return {
    get hub() {
      return state.hub;
    },
    dataDir,
    token,
    async call(method, path, options = {}) {
      const response = await send(method, path, options);
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString('utf8');
      return { status: response.statusCode ?? 0, headers: response.headers, text, body: parse(text) };
    },
    async watch(path, options = {}) {
      return lines(await send('GET', path, options));
    },
    async restart(more = {}) {
      await state.hub.close();
      state.hub = await startHub({ dataDir, kinds: OCM_HUB_KINDS, ...over, ...more });
    },
    async stop() {
      await state.hub.close();
      agent.destroy();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

function encode(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function lines(response: IncomingMessage): TestWatch {
  const ready: LooseJson[] = [];
  const waiting: ((value: LooseJson) => void)[] = [];
  let rest = '';
  let ended = false;
  const end = (): void => {
    ended = true;
    for (const resolve of waiting.splice(0)) resolve(undefined);
  };
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts.filter((line) => line !== '')) {
      const value: unknown = JSON.parse(part);
      const resolve = waiting.shift();
      if (resolve === undefined) ready.push(value);
      else resolve(value);
    }
  });
  response.on('end', end);
  response.on('error', end);
  response.on('close', end);
  const next = (): Promise<LooseJson> => {
    if (ready.length > 0 || ended) return Promise.resolve(ready.shift());
    return new Promise((resolve) => waiting.push(resolve));
  };
  return {
    headers: response.headers,
    next,
    async rest() {
      const all: LooseJson[] = [];
      for (let line = await next(); line !== undefined; line = await next()) all.push(line);
      return all;
    },
    close: () => response.destroy(),
  };
}
