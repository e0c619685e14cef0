import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { Clock } from '@berth/runtime/clock/clock';
import { jsonShape } from '../body/json-shape.ts';
import { type JsonObject, type JsonValue, isObject, textAt, listAt, objectAt } from '../json/json-value.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { cutText } from '../wire/status-error.ts';
import type { WebhookClientConfig } from '../wire/webhook-client-config.ts';
import { connectionProblem, statusProblem, WebhookError } from './webhook-error.ts';

/**
 * Maximum number of cached clients, as in kube-apiserver. Source: apiserver
 * `pkg/util/webhook/client.go`.
 */
const MAX_CLIENTS = 200;

export interface WebhookCall {
  /** Rendered when the call starts, so that waiting calls use no memory. */
  readonly body: () => JsonObject;
  readonly timeoutMs: number;
}

interface Client {
  readonly agent: Agent;
  readonly slots: CallSlots;
}

interface Target {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** The URL that messages show. */
  readonly displayUrl: string;
}

/**
 * Posts reviews to webhooks over TLS and reads the responses. Connections are kept per
 * `clientConfig`. The hub's credentials are not sent, redirects are not followed, and no proxy is
 * used.
 */
export class WebhookClients {
  readonly #store: ObjectStore;
  readonly #clock: Clock;
  /** By configuration, the one used least recently first. */
  readonly #clients = new Map<string, Client>();

  constructor({ store, clock }: { readonly store: ObjectStore; readonly clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Posts a review.
   * @returns the review in the response
   * @throws WebhookError if there is none
   */
  async post(config: WebhookClientConfig, { body, timeoutMs }: WebhookCall): Promise<JsonObject> {
    const { agent, slots } = this.#clientOf(config);
    const timeout = new AbortController();
    const cancel = this.#clock.schedule(timeoutMs, () => timeout.abort());
    const query = `?timeout=${goDuration(timeoutMs)}`;
    const displayUrl = displayedUrl(config, query);
    try {
      await slots.take(timeout.signal);
      try {
        const target = this.#targetOf(config, query, displayUrl);
        return await exchange(target, { agent, signal: timeout.signal, text: JSON.stringify(body()) });
      } finally {
        slots.release();
      }
    } catch (error) {
      if (error instanceof WebhookError) throw error;
      const { host, port } = addressOf(config);
      throw new WebhookError(`Post "${displayUrl}": ${connectionProblem(error, `${host}:${String(port)}`)}`);
    } finally {
      cancel();
    }
  }

  close(): void {
    for (const { agent } of this.#clients.values()) agent.destroy();
    this.#clients.clear();
  }

  #clientOf(config: WebhookClientConfig): Client {
    const key = JSON.stringify(config);
    const client = this.#clients.get(key) ?? newClient(config);
    this.#clients.delete(key);
    this.#clients.set(key, client);
    const [oldest] = this.#clients;
    if (this.#clients.size > MAX_CLIENTS && oldest !== undefined) {
      this.#clients.delete(oldest[0]);
      oldest[1].agent.destroy();
    }
    return client;
  }

  #targetOf(config: WebhookClientConfig, query: string, displayUrl: string): Target {
    const { service } = config;
    if (service === undefined) {
      const { host, port } = addressOf(config);
      return { host, port, path: `${new URL(config.url ?? '').pathname}${query}`, displayUrl };
    }
    const found = this.#store.get({ storage: 'services', namespace: service.namespace, name: service.name });
    if (found === undefined)
      throw new WebhookError(`Post "${displayUrl}": service "${service.name}" not found`);
    const address = resolveService(this.#store, service);
    if (address === undefined)
      throw new WebhookError(`Post "${displayUrl}": no endpoints available for service "${service.name}"`);
    return { ...address, path: `${service.path || '/'}${query}`, displayUrl };
  }
}

/** Calls of one webhook at a time. */
const MAX_CALLS = 32;

function newClient({ caPem, service }: WebhookClientConfig): Client {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: MAX_CALLS,
    ...(caPem !== undefined && { ca: caPem }),
    ...(service !== undefined && { servername: serviceServerName(service) }),
  });
  return { agent, slots: new CallSlots(MAX_CALLS) };
}

function addressOf({ url, service }: WebhookClientConfig): { readonly host: string; readonly port: number } {
  if (service !== undefined) return { host: serviceServerName(service), port: service.port };
  const { hostname, port } = new URL(url ?? '');
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 443 : Number(port) };
}

/** Without the query of the URL, as in the API server. */
function displayedUrl(config: WebhookClientConfig, query: string): string {
  const { service, url } = config;
  if (service !== undefined)
    return `https://${serviceServerName(service)}:${String(service.port)}${service.path}${query}`;
  const { protocol, host, pathname } = new URL(url ?? '');
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}${query}`;
}

function goDuration(ms: number): string {
  return `${String(ms / 1000)}s`;
}

interface PostRequest {
  readonly agent: Agent;
  readonly signal: AbortSignal;
  readonly text: string;
}

/** How much larger than the request a response may be. */
const RESPONSE_SPARE_BYTES = 1024 * 1024;
const RESPONSE_FACTOR = 4;
/** How many characters of an error response a message quotes. */
const MAX_QUOTED_LENGTH = 2048;

async function exchange(target: Target, request: PostRequest): Promise<JsonObject> {
  const response = await send(target, request);
  const limitBytes = Buffer.byteLength(request.text) * RESPONSE_FACTOR + RESPONSE_SPARE_BYTES;
  const received = await readWithin(response, limitBytes);
  const status = response.statusCode ?? 0;
  const value = parseResponse(received);
  if (status < 200 || status > 206) {
    if (isObject(value) && value['kind'] === 'Status' && textAt(value, 'message') !== '')
      throw new WebhookError(cutText(textAt(value, 'message'), MAX_QUOTED_LENGTH), status);
    throw new WebhookError(statusProblem(status, cutText(received.trim(), MAX_QUOTED_LENGTH)), status);
  }
  if (received === '')
    throw new WebhookError(
      `0-length response with status code: ${String(status)} and content type: ${response.headers['content-type'] ?? ''}`,
    );
  if (isObject(value)) return value;
  throw new WebhookError(`couldn't get version/kind; json parse error: ${notAnObjectText(value)}`);
}

/**
 * Sends the review, and sends it again when the server has just closed a connection that was idle.
 * A webhook may get a review more than once.
 */
async function send(target: Target, request: PostRequest): Promise<IncomingMessage> {
  const { host, port, path } = target;
  const { agent, signal, text } = request;
  const bytes = Buffer.from(text);
  const headers = {
    accept: 'application/json, */*',
    'content-type': 'application/json',
    'content-length': bytes.length,
    'user-agent': 'berth-hub/webhooks',
  };
  const sent = httpsRequest({ host, port, path, method: 'POST', agent, signal, headers });
  try {
    return await new Promise((resolve, reject) => {
      sent.on('response', resolve);
      sent.on('error', reject);
      sent.end(bytes);
    });
  } catch (error) {
    const wasClosed = sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET';
    if (wasClosed && !signal.aborted) return send(target, request);
    throw error;
  }
}

/** Go's message for JSON or YAML that is not an object. */
function notAnObjectText(value: JsonValue | undefined): string {
  return `json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof (value ?? '')} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
}

async function readWithin(response: IncomingMessage, limitBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of response) {
    sizeBytes += (chunk as Buffer).length;
    // Leaving the loop early destroys the connection.
    if (sizeBytes > limitBytes)
      throw new WebhookError(`the response is larger than ${String(limitBytes)} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Limits of the JSON of a response. */
const MAX_DEPTH = 1000;
const MAX_VALUES = 2_000_000;

function parseResponse(text: string): JsonValue | undefined {
  const { depth, values } = jsonShape(text);
  if (depth > MAX_DEPTH || values > MAX_VALUES)
    throw new WebhookError('the response contains too many values');
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/**
 * Limits the concurrent calls of one webhook; further calls wait in order. So a webhook that hangs
 * uses only a few connections and request bodies.
 */
class CallSlots {
  readonly #capacity: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /**
   * @param signal ends the wait.
   * @throws its reason
   */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#taken < this.#capacity) {
      this.#taken += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const takeSlot = (): void => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      const abort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(takeSlot), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.push(takeSlot);
    });
  }

  /** The slot passes to the next waiter. */
  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next();
  }
}

interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/**
 * The hub routes no cluster IPs, so a Service can be resolved only if it is of type ExternalName,
 * or if its Endpoints contain an address.
 */
export function resolveService(
  store: ObjectStore,
  service: ServicePort,
): { readonly host: string; readonly port: number } | undefined {
  const { namespace, name, port } = service;
  const spec = objectAt(store.get({ storage: 'services', namespace, name })?.object, 'spec');
  if (textAt(spec, 'type') === 'ExternalName') return { host: textAt(spec, 'externalName'), port };
  const endpoints = store.get({ storage: 'endpoints', namespace, name })?.object;
  for (const subset of listAt(endpoints, 'subsets').filter(isObject)) {
    const host = textAt(firstObject(subset, 'addresses'), 'ip');
    const own = firstObject(subset, 'ports')?.['port'];
    if (host !== '') return { host, port: typeof own === 'number' ? own : port };
  }
  return undefined;
}

/** The name in the certificate of a server behind a Service. */
export function serviceServerName({ namespace, name }: Pick<ServicePort, 'namespace' | 'name'>): string {
  return `${name}.${namespace}.svc`;
}

function firstObject(object: JsonObject, field: string): JsonObject | undefined {
  return listAt(object, field).find(isObject);
}
