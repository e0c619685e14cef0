import { renameSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NAMESPACE } from '@berth/kube/model/kinds';
import { TransientError } from '@berth/runtime/errors';
import { interceptedApi } from '../../controllers/sources/following/intercepted-api.ts';
import { Collector, type ReceivedSpan } from '../../adapters/otlp/collector.ts';
import { baseFiles, placement, replicaSet, yaml } from './fleet-fixture.ts';
import { PreviewedFleet } from './previews/previewed-fleet.ts';
import { ServedFleet } from './served-fleet.ts';

const STEPS = ['fetch', 'read', 'write objects', 'decide', 'publish pages', 'write works'];

const valueOf = ({ attributes }: ReceivedSpan, key: string): unknown =>
  Object.values(attributes.find((one) => one.key === key)?.value ?? {})[0];
const web = (numberOfClusters: number) => ({ 'web.yaml': yaml(placement('web', { numberOfClusters })) });

describe('the traces of previews', () => {
  let previewed: PreviewedFleet;
  let collector: Collector;
  beforeEach(async () => {
    [previewed, collector] = [await PreviewedFleet.create(), await Collector.start()];
  });
  afterEach(async () => {
    await previewed.close();
    await collector.close();
  });

  /** State and steps of the traces of previews of the head. */
  const previewsOf = (head: string) =>
    collector.spans
      .filter(
        (root) => root.name === 'preview pull request' && valueOf(root, 'vcs.ref.head.revision') === head,
      )
      .map((root) => ({
        change: valueOf(root, 'vcs.change.id'),
        code: root.status.code,
        steps: collector.spans.flatMap(({ parentSpanId, name }) =>
          parentSpanId === root.spanId ? [name] : [],
        ),
      }));

  it('show the steps of a plan, and the one at which the forge failed', async () => {
    await previewed.serve(web(1), {}, { otlp: { address: collector.url } });
    const head = previewed.open(7, web(2));
    await previewed.changed(7, 'opened');
    const steps = ['fetch', 'wait for decisions', 'plan', 'comment'];
    await expect.poll(() => previewsOf(head)[0]).toEqual({ change: '7', code: undefined, steps });
    previewed.server.fault = ({ url, method }) =>
      url?.includes('/comments') && method !== 'GET' ? { status: 502 } : undefined;
    const second = previewed.open(7, web(3));
    await previewed.changed(7);
    await expect.poll(() => previewsOf(second)[0]).toEqual({ change: '7', code: 2, steps });
    previewed.server.fault = () => undefined;
  });
});

describe('the traces of commits', () => {
  let fleet: ServedFleet;
  let collector: Collector;
  beforeEach(async () => {
    [fleet, collector] = [await ServedFleet.create(), await Collector.start()];
    for (const name of ['c1', 'c2'])
      await fleet.hub.api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  });
  afterEach(async () => {
    await fleet.close();
    await collector.close();
  });

  const roots = (): readonly ReceivedSpan[] =>
    collector.spans.filter(({ parentSpanId }) => parentSpanId === undefined);
  /** The root of the trace of the commit that fits, when it has arrived. */
  const rootOf = (commit: string, fits: (root: ReceivedSpan) => boolean = () => true) =>
    fleet.until(() =>
      roots().find((root) => valueOf(root, 'vcs.ref.head.revision') === commit && fits(root)),
    );
  const stepsOf = ({ spanId }: ReceivedSpan): readonly ReceivedSpan[] =>
    collector.spans.filter(({ parentSpanId }) => parentSpanId === spanId);

  it('show each step of a commit, one after the other, within the trace of the commit', async () => {
    fleet.git.commit({ ...baseFiles, ...web(1), 'works.yaml': yaml(replicaSet) });
    await fleet.serve({ otlp: { address: collector.url } });
    await fleet.event('work-written');
    const commit = fleet.git.commit(web(2));
    const root = await rootOf(commit);
    const steps = stepsOf(root);
    expect(root).toMatchObject({ name: 'follow commit', status: {} });
    expect(valueOf(root, 'vcs.repository.url.full')).toBe(fleet.git.path);
    expect(valueOf(root, 'berth.held')).toBe(false);
    expect(steps.map(({ name }) => name)).toEqual(STEPS);
    let at = BigInt(root.startTimeUnixNano);
    for (const { traceId, startTimeUnixNano: start, endTimeUnixNano: end } of steps) {
      expect([traceId, BigInt(start)]).toEqual([root.traceId, at]);
      expect(BigInt(end)).toBeGreaterThanOrEqual(BigInt(start));
      at = BigInt(end);
    }
    expect(at).toBeLessThanOrEqual(BigInt(root.endTimeUnixNano));
  });

  it('end with what a held commit waits for', async () => {
    fleet.git.commit({ ...baseFiles, ...web(6) });
    await fleet.serve({ otlp: { address: collector.url } });
    await fleet.published('web');
    const root = await rootOf(fleet.git.commit(web(1)));
    expect(valueOf(root, 'berth.held')).toBe(true);
    expect(stepsOf(root).map(({ name }) => name)).toEqual(STEPS.slice(0, 5));
  });

  it('say which step failed and why, and show the next try as a trace of its own', async () => {
    const gone = new TransientError('does not answer', { code: 'kube.unreachable', subject: 'hub' });
    let isAway = false;
    const hub = interceptedApi(fleet.hub.api, (method) => {
      if (isAway && method === 'apply') throw gone;
    });
    fleet.git.commit({ ...baseFiles, ...web(1) });
    await fleet.serve({ api: hub, otlp: { address: collector.url } });
    await fleet.published('web');
    const away = `${fleet.git.path}-away`;
    renameSync(fleet.git.path, away);
    const failed = await fleet.until(() => roots().find(({ status }) => status.code === 2));
    renameSync(away, fleet.git.path);
    expect(valueOf(failed, 'error.type')).toMatch(/^git\./);
    expect(stepsOf(failed).map(({ name, status }) => [name, status.code])).toEqual([['fetch', 2]]);
    isAway = true;
    const commit = fleet.git.commit(web(2));
    const first = await rootOf(commit, ({ status }) => status.code === 2);
    expect(stepsOf(first).map(({ name }) => name)).toEqual(STEPS.slice(0, 3));
    isAway = false;
    const last = await rootOf(commit, ({ status }) => status.code === undefined);
    expect(last.traceId).not.toBe(first.traceId);
    expect(valueOf(last, 'berth.retry')).toBe(true);
    expect(stepsOf(last).map(({ name }) => name)).toEqual(['fetch', ...STEPS.slice(2)]);
  });

  it('do not slow a commit down, whatever the collector does, and are counted when they are lost', async () => {
    const { url: address } = collector;
    await collector.close();
    fleet.git.commit({ ...baseFiles, ...web(1) });
    const { url } = await fleet.serve({ otlp: { address }, http: fleet.http() });
    await fleet.published('web');
    const before = fleet.events.length;
    fleet.git.commit(web(2));
    await fleet.published('web', before);
    await expect
      .poll(async () => {
        fleet.clock.skip(60_000);
        return (await fetch(`${url}/metrics`)).text();
      })
      .toContain('berth_trace_spans_total{outcome="lost"}');
    collector = await Collector.start();
  });
});
