import { beforeEach, describe, expect, it } from 'vitest';
import { ResponseCache } from '../../../plugin/getparams-endpoint.ts';
import { parsePluginRequest } from '../../../plugin/response/plugin-request.ts';
import { MemoryPluginSource } from '../../fakes/memory-plugin-source.ts';

const decided = (...names: string[]) => names.map((clusterName) => ({ clusterName, reason: '' }));
const WEB = {
  groups: [
    { name: 'canary', index: 0, decisions: decided('a', 'b') },
    { name: '', index: 1, decisions: decided('c', 'd') },
  ],
  decisionId: 'd1',
  commit: 'c1',
  emptyAllowed: true,
};

describe('the response to an ApplicationSet in waves', () => {
  let source: MemoryPluginSource;
  let cache: ResponseCache;
  beforeEach(() => {
    source = new MemoryPluginSource();
    source.placements.set('team-a/web', WEB);
    source.placements.set('team-a/none', { ...WEB, groups: [{ name: '', index: 0, decisions: [] }] });
    cache = new ResponseCache(source);
  });
  const serve = (waves: Readonly<Record<string, number>>, set = 'web'): void =>
    void source.served.set(set, { ok: true, served: new Map(Object.entries(waves)) });
  const ask = (parameters: object = {}, applicationSetName = 'web') => {
    const asked = { placement: 'team-a/web', waves: '3', soak: '10m', ...parameters };
    const parsed = parsePluginRequest(JSON.stringify({ applicationSetName, input: { parameters: asked } }));
    if (!parsed.ok) throw new Error(parsed.message);
    const { status, body } = cache.respond({ request: parsed.request, bindings: [] });
    const value = JSON.parse(body.toString('utf8')) as {
      readonly message?: string;
      readonly output?: { readonly parameters: readonly Readonly<Record<string, unknown>>[] };
    };
    const items = value.output?.parameters ?? [];
    return {
      answer:
        value.message ?? items.map((item) => `${String(item['name'])}=${String(item['wave'])}`).join(' '),
      status,
      items,
      body,
    };
  };

  it('has the clusters that are served, with the wave that is written and not the number of the group', () => {
    serve({ a: 0, c: 0, d: 2, gone: 1 });
    expect(ask()).toMatchObject({ status: 200, answer: 'a=w0 c=w0 d=w2' });
    expect(ask({ group: 'canary' })).toMatchObject({ status: 200, answer: 'a=w0' });
  });

  it('has the same keys and ranks as without waves, also in the flat form', () => {
    serve({ a: 0, c: 1 });
    for (const form of [{}, { flat: 'true' }]) {
      const [all, some] = [ask({ ...form, waves: undefined, soak: undefined }), ask(form)];
      const keys = all.items.map((item) => Object.keys(item).join());
      expect(new Set(some.items.map((item) => Object.keys(item).join()))).toEqual(new Set(keys));
      expect(some.items.map((item) => item['rank'])).toEqual(['1', '3']);
    }
    expect(ask({ waves: undefined, soak: undefined }).answer).toBe('a=w0 b=w0 c=w1 d=w1');
    expect(ask({ as: 'web', flat: true }).items[0]).toMatchObject({ 'web.wave': 'w0' });
  });

  it.each([
    { name: 'nothing is written yet', served: undefined, parameters: {}, message: 'not written yet' },
    {
      name: 'no selected cluster is served',
      served: { gone: 0 },
      parameters: {},
      message: 'all of them wait for their wave',
    },
    {
      name: 'none of the group is served',
      served: { c: 1 },
      parameters: { group: 'canary' },
      message: 'all of them wait for their wave',
    },
    {
      name: 'an empty list is allowed for no such thing',
      served: {},
      parameters: { onEmpty: 'allow' },
      message: 'all of them wait for their wave',
    },
  ])('is an error when $name', ({ served, parameters, message }) => {
    if (served !== undefined) serve(served);
    expect(ask(parameters)).toMatchObject({
      status: 503,
      answer: expect.stringContaining(message) as string,
    });
  });

  it('is an error of the user when the waves cannot be told', () => {
    source.served.set('web', { ok: false, isWrong: true, message: 'which one?' });
    expect(ask()).toMatchObject({ status: 400, answer: 'which one?' });
  });

  it('may be empty where the decision is', () => {
    serve({});
    expect(ask({ placement: 'team-a/none' })).toMatchObject({ status: 200, answer: '' });
    expect(ask({ placement: 'team-a/none', onEmpty: 'error' })).toMatchObject({ status: 503 });
  });

  it('changes when other clusters are served, for that ApplicationSet alone, and is kept otherwise', () => {
    serve({ a: 0 });
    serve({ a: 0, b: 0 }, 'other');
    const before = ask();
    expect(ask({}, 'other').answer).toBe('a=w0 b=w0');
    expect(ask().body).toBe(before.body);
    serve({ a: 0, c: 1 });
    expect(ask().answer).toBe('a=w0 c=w1');
    source.served.delete('web');
    expect(ask().status).toBe(503);
  });

  it.each([
    { waves: 'x', soak: undefined },
    { waves: '3', soak: 'soon' },
    { waves: undefined, soak: '5m' },
  ])('is refused for $waves and $soak', (parameters) => {
    expect(() => ask(parameters)).toThrow(/input\.parameters\.(waves|soak)/);
  });
});
