import { getEventListeners } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InputError } from '@berth/runtime/errors';
import type { FinishedTrace } from '@berth/runtime/open-trace';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { OtlpExporter, type OtlpExporterOptions } from '../../../src/adapters/otlp/otlp-exporter.ts';
import { SteeredClock } from '../../fakes/steered-clock.ts';
import { Collector } from './collector.ts';

const trace = (name: string, steps = 1): FinishedTrace => ({
  ...{ name, startMs: 1_000.25, endMs: 3_000, attributes: { revision: 'abc', count: 3, held: false } },
  steps: Array.from({ length: steps }, (_, at) => ({ name: `step ${at}`, startMs: 1_000, endMs: 2_000 })),
});

describe('OtlpExporter', () => {
  let collector: Collector;
  let clock: SteeredClock;
  let counts: Record<string, number>;
  let stop: AbortController;
  let running: Promise<void> | undefined;
  let log: SilentLogger;
  beforeEach(async () => {
    [collector, clock, counts] = [await Collector.start(), new SteeredClock(), {}];
    [stop, running, log] = [new AbortController(), undefined, new SilentLogger()];
  });
  afterEach(async () => {
    stop.abort();
    await running;
    await collector.close();
  });

  const exporter = (over: Partial<OtlpExporterOptions> = {}): OtlpExporter =>
    new OtlpExporter({
      ...{ address: collector.url, clock, log, random: () => 0.5, resource: { 'service.name': 'berth' } },
      onSpans: (outcome, count) => {
        if (count > 0) counts[outcome] = (counts[outcome] ?? 0) + count;
      },
      ...over,
    });
  const run = (one: OtlpExporter): OtlpExporter => {
    running = one.run(stop.signal);
    return one;
  };
  /** Ends the exporter, which sends what it has. */
  const end = (one: OtlpExporter): Promise<void> => one.run(AbortSignal.abort());

  it('sends a trace as a tree of spans with times, attributes and the state of a failure', async () => {
    const error = { code: 'git.failed', message: 'the remote is away' };
    run(exporter()).take({ ...trace('follow commit'), error });
    clock.skip(1_000);
    await expect.poll(() => collector.spans.length).toBe(2);
    const [root, child] = collector.spans;
    expect(collector.received[0]?.path).toBe('/v1/traces');
    expect(root?.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(root?.spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(root?.parentSpanId).toBeUndefined();
    expect(child).toMatchObject({ traceId: root?.traceId, parentSpanId: root?.spanId, name: 'step 0' });
    expect(root).toMatchObject({
      ...{ name: 'follow commit', kind: 1 },
      ...{ startTimeUnixNano: '1000250000', endTimeUnixNano: '3000000000' },
      status: { code: 2, message: 'the remote is away' },
    });
    expect(child?.status).toEqual({});
    expect(root?.attributes).toEqual([
      { key: 'revision', value: { stringValue: 'abc' } },
      { key: 'count', value: { intValue: '3' } },
      { key: 'held', value: { boolValue: false } },
      { key: 'error.type', value: { stringValue: 'git.failed' } },
    ]);
    await expect.poll(() => counts).toEqual({ sent: 2 });
    // What waits for its end is at most the loop, and no request that is over.
    expect(getEventListeners(stop.signal, 'abort').length).toBeLessThanOrEqual(1);
  });

  it('sends headers of the environment and of a file, which is read again', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'berth-otlp-'));
    const headersFile = join(dir, 'headers');
    writeFileSync(headersFile, '# of the collector\nauthorization=Bearer%20one\n');
    const one = exporter({ headers: 'x-scope=fleet, x-other=a%2Cb', headersFile });
    one.take(trace('a'));
    await end(one);
    writeFileSync(headersFile, 'authorization=Bearer%20two\n');
    clock.skip(2_000);
    one.take(trace('b'));
    await end(one);
    rmSync(dir, { recursive: true });
    const [first, second] = collector.received.map(({ headers }) => headers);
    expect(first).toMatchObject({ 'x-scope': 'fleet', 'x-other': 'a,b', authorization: 'Bearer one' });
    expect(second).toMatchObject({ authorization: 'Bearer two', 'content-type': 'application/json' });
  });

  it.each(['collector:4318', 'ftp://collector', 'http://user:secret@collector:4318', ''])(
    'refuses the address %j and shows none of it',
    (address) => {
      const refused = (): unknown => exporter({ address });
      expect(refused).toThrow(InputError);
      expect(refused).not.toThrow(/secret@/);
    },
  );

  it.each(['no-value', 'bad name=x', 'x=%zz', 'x=a%0Ab'])('refuses the headers %j', (headers) => {
    expect(() => exporter({ headers })).toThrow(/expected NAME=VALUE of headers/);
  });

  it('takes traces at once and drops what does not fit while the collector does not answer', async () => {
    collector.answer = () => undefined;
    const one = run(exporter());
    one.take(trace('first'));
    clock.skip(1_000);
    await expect.poll(() => collector.received.length).toBe(1);
    for (let n = 0; n < 300; n++) one.take(trace(`more ${n}`, 9));
    expect(counts).toEqual({ full: 3_000 - 2_040 });
    collector.answer = (response) => void response.end('{}');
    // The request that has no answer ends by its time limit, and is made again.
    clock.skip(10_000);
    await expect.poll(() => collector.received.length, { interval: 50 }).toBeGreaterThan(0);
    await expect
      .poll(() => {
        clock.skip(2_000);
        return counts['sent'];
      })
      .toBe(2 + 2_040);
    expect(log.entries.map(({ level }) => level)).toEqual(['warn', 'info']);
  });

  it.each([
    { name: 'with 400', answer: 400, want: { refused: 2 }, requests: 1 },
    { name: 'with a redirect', answer: 307, want: { refused: 2 }, requests: 1 },
    { name: 'with 503 each time', answer: 503, want: { lost: 2 }, requests: 5 },
  ])('gives spans up that the collector answers $name', async ({ answer, want, requests }) => {
    collector.answer = (response) =>
      void response.writeHead(answer, { location: `${collector.url}/elsewhere` }).end();
    run(exporter()).take(trace('a'));
    await expect
      .poll(() => {
        clock.skip(60_000);
        return counts;
      })
      .toEqual(want);
    expect(collector.received.map(({ path }) => path)).toEqual(Array(requests).fill('/v1/traces'));
  });

  it.each([
    { name: 'rejects some', text: '{"partialSuccess":{"rejectedSpans":"1"}}', want: { sent: 1, refused: 1 } },
    {
      name: 'rejects more than there are',
      text: '{"partialSuccess":{"rejectedSpans":"99"}}',
      want: { refused: 2 },
    },
    { name: 'rejects less than none', text: '{"partialSuccess":{"rejectedSpans":-5}}', want: { sent: 2 } },
    { name: 'answers nonsense', text: '<html>', want: { sent: 2 } },
    { name: 'answers null', text: 'null', want: { sent: 2 } },
  ])('believes a collector that $name only what can be', async ({ text, want }) => {
    collector.answer = (response) => void response.end(text);
    const one = exporter();
    one.take(trace('a'));
    await end(one);
    expect(counts).toEqual(want);
  });

  it('does not read a huge answer to its end', async () => {
    let isCut = false;
    collector.answer = (response) => {
      response.on('close', () => (isCut = true));
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536))) continue;
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    };
    const one = exporter();
    one.take(trace('a'));
    await end(one);
    expect(counts).toEqual({ sent: 2 });
    await expect.poll(() => isCut).toBe(true);
  });

  it('flushes what is left when the process ends, and gives up what cannot be sent', async () => {
    const one = run(exporter());
    one.take(trace('a'));
    stop.abort();
    await running;
    expect(counts).toEqual({ sent: 2 });
    await collector.close();
    one.take(trace('b'));
    await end(one);
    expect(counts).toEqual({ sent: 2, lost: 2 });
    collector = await Collector.start();
  });
});
