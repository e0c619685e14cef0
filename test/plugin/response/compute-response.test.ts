import { describe, expect, it } from 'vitest';
import { computeResponse } from '../../../plugin/response/compute-response.ts';
import { parsePluginRequest } from '../../../plugin/response/plugin-request.ts';
import { MemoryPluginSource } from '../../fakes/memory-plugin-source.ts';

const decided = (...names: string[]) => names.map((clusterName) => ({ clusterName, reason: '' }));
const group = (name: string, index: number, ...clusters: string[]) => ({
  ...{ name, index },
  decisions: decided(...clusters),
});

interface Asked {
  readonly groups: readonly ReturnType<typeof group>[];
  readonly parameters?: Readonly<Record<string, string>>;
  /** The annotation of the placement. */
  readonly emptyAllowed?: boolean;
  /** Clusters that the waves serve, for a request in waves. */
  readonly served?: readonly string[];
}

function ask({ groups, parameters = {}, emptyAllowed = false, served }: Asked): string {
  const source = new MemoryPluginSource();
  source.placements.set('shop/web', { groups, decisionId: 'd1', commit: 'c1', emptyAllowed });
  if (served !== undefined)
    source.served.set('web', { ok: true, served: new Map(served.map((name) => [name, 0])) });
  const inWaves = served === undefined ? {} : { waves: '3', soak: '10m' };
  const asked = { placement: 'shop/web', ...inWaves, ...parameters };
  const parsed = parsePluginRequest(
    JSON.stringify({ applicationSetName: 'web', input: { parameters: asked } }),
  );
  if (!parsed.ok) throw new Error(parsed.message);
  const { status, body } = computeResponse({ request: parsed.request, bindings: [] }, source);
  const { message, output } = JSON.parse(body.toString('utf8')) as {
    readonly message?: string;
    readonly output?: { readonly parameters: readonly { readonly name: string }[] };
  };
  return `${status} ${message ?? output?.parameters.map(({ name }) => name).join(' ') ?? ''}`;
}

const BOTH = [group('canary', 0, 'a'), group('', 1, 'b')];
const NO_CANARY = [group('canary', 0), group('', 1, 'b')];

describe('the response for one decision group', () => {
  it.each<Asked & { readonly name: string; readonly want: string | RegExp }>([
    { name: 'has its clusters', groups: BOTH, parameters: { group: 'canary' }, want: '200 a' },
    {
      name: 'is an error if it is empty, although others are not',
      groups: NO_CANARY,
      parameters: { group: 'canary' },
      want: /^503 placement shop\/web selects no cluster in group canary; an empty response would delete/,
    },
    {
      name: 'is an error if there is no such group',
      groups: BOTH,
      parameters: { group: 'canry' },
      want: /^503 placement shop\/web selects no cluster in group canry;/,
    },
    {
      name: 'is an error if the request refuses what the placement allows',
      groups: NO_CANARY,
      emptyAllowed: true,
      parameters: { group: 'canary', onEmpty: 'error' },
      want: /^503 placement shop\/web selects no cluster in group canary;/,
    },
    {
      name: 'is empty if the placement allows it',
      groups: NO_CANARY,
      emptyAllowed: true,
      parameters: { group: 'canary' },
      want: '200 ',
    },
    {
      name: 'is empty if the request allows it',
      groups: NO_CANARY,
      parameters: { group: 'canary', onEmpty: 'allow' },
      want: '200 ',
    },
    {
      name: 'is empty in waves, too: clusters of other groups do not wait for it',
      groups: NO_CANARY,
      served: [],
      parameters: { group: 'canary', onEmpty: 'allow' },
      want: '200 ',
    },
    {
      name: 'is an error in waves if its clusters wait, whatever is allowed',
      groups: BOTH,
      served: ['b'],
      parameters: { group: 'canary', onEmpty: 'allow' },
      want: '503 no cluster of placement shop/web is served yet: all of them wait for their waves',
    },
  ])('$name', ({ want, ...asked }) => {
    expect(ask(asked)).toEqual(typeof want === 'string' ? want : expect.stringMatching(want));
  });

  it('names no group where the whole placement selects nothing', () => {
    expect(ask({ groups: [group('', 0)] })).toMatch(/^503 placement shop\/web selects no cluster; an empty/);
  });
});
