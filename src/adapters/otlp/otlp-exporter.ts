import { randomBytes } from 'node:crypto';
import type { Clock } from '@berth/runtime/clock/clock';
import { errorText, InputError } from '@berth/runtime/errors';
import { SecretFile } from '@berth/runtime/files/secret-file';
import { boundedText } from '@berth/runtime/http/bounded-text';
import type { Logger } from '@berth/runtime/logger';
import { Backoff } from '@berth/runtime/loop/backoff';
import { sleep, WakeUp } from '@berth/runtime/loop/sleep';
import type { FinishedTrace, TraceAttributes } from '@berth/runtime/open-trace';

/** What became of spans. `full`: the queue was; `refused`: by the collector; `lost`: no try reached it. */
export type SpanOutcome = 'sent' | 'full' | 'refused' | 'lost';

export interface OtlpExporterOptions {
  /** `http://collector:4318`; `/v1/traces` is added unless it is there. */
  readonly address: string;
  /** `name=value` of headers, separated by commas, values percent-encoded: OTEL_EXPORTER_OTLP_HEADERS. Default: none. */
  readonly headers?: string | undefined;
  /** File with more such headers, also one per line; read again when it changes. */
  readonly headersFile?: string | undefined;
  /** Of the process, by OpenTelemetry's conventions: `service.name` and so on. */
  readonly resource: TraceAttributes;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly onSpans: (outcome: SpanOutcome, count: number) => void;
}

/** Spans that wait. Further ones are dropped. */
const MAX_WAITING = 2_048;
const MAX_BATCH = 512;
/** Spans that end together are sent together. */
const COLLECT_MS = 1_000;
const TIMEOUT_MS = 10_000;
const MAX_TRIES = 5;
/** How long the last batches may take when the process ends. */
const FLUSH_MS = 1_000;
const MAX_ANSWER_BYTES = 65_536;
const MAX_MESSAGE_LENGTH = 1_000;
/** Source: opentelemetry.io, OTLP specification 1.9, "Retryable Response Codes". */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

type Span = Readonly<Record<string, unknown>>;

/**
 * Sends traces to a collector by OTLP over HTTP, in JSON. The caller waits for nothing, whatever the collector does: the
 * queue is bounded, and what does not fit, or cannot be sent after some tries, is dropped and counted.
 *
 * The packages of OpenTelemetry were measured and not taken: 39 MB on disk, 0.15 s and 8 MB of memory when they load, and their
 * public interface does not count what they drop. The wire format is one object.
 * Source: opentelemetry-proto 1.9, `opentelemetry/proto/trace/v1/trace.proto`, and its JSON mapping.
 */
export class OtlpExporter {
  readonly #options: OtlpExporterOptions;
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #file: SecretFile<Readonly<Record<string, string>>> | undefined;
  readonly #waiting: Span[] = [];
  readonly #wakeUp = new WakeUp();
  #isFailing = false;

  /** @throws InputError for an address or headers that cannot work */
  constructor(options: OtlpExporterOptions) {
    const { address, headers, headersFile, log } = options;
    this.#options = options;
    this.#url = tracesUrl(address);
    this.#headers = parseHeaders(headers ?? '');
    if (headersFile === undefined) return;
    this.#file = new SecretFile({
      ...{ file: headersFile, what: 'headers for traces', without: 'traces are sent without them' },
      ...{ parse: parseHeaders, log },
    });
    if (this.#file.problem !== undefined) throw this.#file.problem;
  }

  /** Takes a trace at once. */
  take(trace: FinishedTrace): void {
    const spans = spansOf(trace);
    if (this.#waiting.length + spans.length > MAX_WAITING) return this.#options.onSpans('full', spans.length);
    this.#waiting.push(...spans);
    this.#wakeUp.call();
  }

  /** Sends what is taken. When the signal aborts, tries once to send what is left, for at most a second. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      if (this.#waiting.length === 0) await this.#wakeUp.wait(signal);
      await sleep(clock, COLLECT_MS, signal);
      if (!signal.aborted) await this.#sendBatch(signal);
    }
    await this.#flush();
  }

  async #flush(): Promise<void> {
    const end = AbortSignal.timeout(FLUSH_MS);
    while (this.#waiting.length > 0 && !end.aborted) {
      const batch = this.#waiting.splice(0, MAX_BATCH);
      const retryMs = await this.#send(batch, end);
      if (retryMs !== undefined) this.#options.onSpans('lost', batch.length);
    }
    this.#options.onSpans('lost', this.#waiting.splice(0).length);
  }

  async #sendBatch(signal: AbortSignal): Promise<void> {
    const { clock, random, onSpans } = this.#options;
    const batch = this.#waiting.splice(0, MAX_BATCH);
    const backoff = new Backoff({ initialMs: 1_000, maxMs: 30_000 }, random);
    for (let tries = 1; ; tries++) {
      const retryMs = await this.#send(batch, signal);
      if (retryMs === undefined) return;
      if (signal.aborted) return void this.#waiting.unshift(...batch);
      if (tries === MAX_TRIES) return onSpans('lost', batch.length);
      await sleep(clock, Math.max(backoff.nextMs(), retryMs), signal);
      if (signal.aborted) return void this.#waiting.unshift(...batch);
    }
  }

  /** @returns undefined if the batch is done with; else after how many milliseconds the collector asks for another try */
  async #send(batch: readonly Span[], signal: AbortSignal): Promise<number | undefined> {
    const { clock, resource, onSpans } = this.#options;
    // Not AbortSignal.any: its results stay referenced by the signal of the process.
    const stop = new AbortController();
    const abort = (): void => stop.abort();
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    const cancel = clock.schedule(TIMEOUT_MS, abort);
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: {
          'user-agent': 'berth',
          ...this.#headers,
          ...this.#file?.current(clock.now()),
          'content-type': 'application/json',
        },
        body: JSON.stringify(requestOf(batch, resource)),
        // The headers go to the address that is set, and to no other.
        redirect: 'manual',
        signal: stop.signal,
      });
      if (response.ok) {
        const refused = await refusedSpans(response, batch.length);
        onSpans('refused', refused);
        onSpans('sent', batch.length - refused);
        this.#note(undefined);
        return undefined;
      }
      await response.body?.cancel();
      this.#note(`it answered ${response.status}`);
      if (RETRYABLE.has(response.status)) return retryAfterMs(response.headers);
      onSpans('refused', batch.length);
      return undefined;
    } catch (error) {
      // fetch says only that it failed. Its cause says why.
      this.#note(errorText(error instanceof Error && error.cause instanceof Error ? error.cause : error));
      return 0;
    } finally {
      signal.removeEventListener('abort', abort);
      cancel();
    }
  }

  /** Reports the begin and the end of a failure. */
  #note(problem: string | undefined): void {
    const { log } = this.#options;
    const collector = this.#url;
    if (problem !== undefined && !this.#isFailing)
      log.warn('traces cannot be sent; what does not fit the queue is dropped', { collector, problem });
    if (problem === undefined && this.#isFailing) log.info('traces are sent again', { collector });
    this.#isFailing = problem !== undefined;
  }
}

/** @throws InputError without showing the address, which may contain a password */
function tracesUrl(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (url === undefined || !isHttp || url.username !== '' || url.password !== '' || url.hash !== '')
    throw new InputError('expected a URL such as http://collector:4318, without a user and a password', {
      code: 'otlp.address',
      subject: '--otlp-address',
      hint: 'credentials belong into OTEL_EXPORTER_OTLP_HEADERS, or into the file of --otlp-headers-file',
    });
  if (!url.pathname.endsWith('/v1/traces')) url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`;
  return url.href;
}

/** @throws InputError without showing a value */
function parseHeaders(text: string): Readonly<Record<string, string>> {
  const entries = text.split(/[,\n]/).flatMap((part) => {
    const entry = part.trim();
    if (entry === '' || entry.startsWith('#')) return [];
    const [, name = '', value = ''] = /^([^=]+?)\s*=\s*(.*)$/.exec(entry) ?? [];
    try {
      return [[name.toLowerCase(), headerValue(name, value)] as const];
    } catch (cause) {
      throw new InputError('expected NAME=VALUE of headers, separated by commas, values percent-encoded', {
        code: 'otlp.headers',
        subject: 'headers for traces',
        cause: cause instanceof TypeError ? new Error('a name or a value is not valid') : cause,
      });
    }
  });
  return Object.fromEntries(entries);
}

function headerValue(name: string, value: string): string {
  const decoded = decodeURIComponent(value);
  new Headers([[name, decoded]]);
  return decoded;
}

/** A collector may say anything, at any length. */
async function refusedSpans(response: Response, sent: number): Promise<number> {
  try {
    const answer = JSON.parse(await boundedText(response, MAX_ANSWER_BYTES)) as {
      readonly partialSuccess?: { readonly rejectedSpans?: unknown };
    };
    const count = Number(answer.partialSuccess?.rejectedSpans ?? 0);
    return Number.isInteger(count) ? Math.min(Math.max(count, 0), sent) : 0;
  } catch {
    return 0;
  }
}

function retryAfterMs(headers: Headers): number {
  const seconds = Number(headers.get('retry-after') ?? 0);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), 60) * 1_000 : 0;
}

function requestOf(spans: readonly Span[], resource: TraceAttributes): object {
  const scopeSpans = [{ scope: { name: 'berth' }, spans }];
  return { resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans }] };
}

/** The first span is the parent of the others. */
function spansOf({ steps, attributes, ...root }: FinishedTrace): readonly Span[] {
  const traceId = randomBytes(16).toString('hex');
  const rootId = randomBytes(8).toString('hex');
  return [
    { traceId, spanId: rootId, ...spanOf({ ...root, attributes }) },
    ...steps.map((step) => ({
      ...{ traceId, spanId: randomBytes(8).toString('hex'), parentSpanId: rootId },
      ...spanOf({ ...step, attributes: {} }),
    })),
  ];
}

function spanOf({ name, startMs, endMs, error, attributes }: Omit<FinishedTrace, 'steps'>): Span {
  return {
    name,
    // SPAN_KIND_INTERNAL
    kind: 1,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: attributesOf({ ...attributes, ...(error && { 'error.type': error.code }) }),
    // STATUS_CODE_ERROR; a success has no status
    status: error === undefined ? {} : { code: 2, message: error.message.slice(0, MAX_MESSAGE_LENGTH) },
  };
}

/** Numbers of 64 bits are texts in the JSON mapping. */
function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}

function attributesOf(attributes: TraceAttributes): readonly object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));
}

function valueOf(value: TraceAttributes[string]): object {
  switch (typeof value) {
    case 'string':
      return { stringValue: value };
    case 'number':
      return { intValue: String(Math.round(value)) };
    case 'boolean':
      return { boolValue: value };
    default:
      return { arrayValue: { values: value.map(valueOf) } };
  }
}
