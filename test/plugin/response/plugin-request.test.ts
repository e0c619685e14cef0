import { describe, expect, it } from 'vitest';
import { parsePluginRequest } from '../../../plugin/response/plugin-request.ts';

function parse(parameters: object, defaultNamespace?: string) {
  return parsePluginRequest(
    JSON.stringify({ applicationSetName: 'set', input: { parameters } }),
    defaultNamespace,
  );
}

describe('a request of the plugin generator', () => {
  it.each([
    { name: 'namespace and name', given: { placement: 'team-a/web' }, want: 'team-a/web' },
    { name: 'both apart', given: { placement: 'web', namespace: 'team-a' }, want: 'team-a/web' },
    { name: 'spaces of a template', given: { placement: ' team-a/web\n' }, want: 'team-a/web' },
    { name: 'the namespace of the path', given: { placement: 'web' }, ns: 'team-b', want: 'team-b/web' },
  ])('names a placement: $name', ({ given, ns, want }) => {
    expect(parse(given, ns)).toMatchObject({ ok: true, request: { placement: want } });
  });

  it('has lists as lists or as texts with commas', () => {
    const given = { placement: 'a/b', labels: 'region, zone,', claims: ['id', ' os '], scores: [] };
    expect(parse(given)).toMatchObject({
      ok: true,
      request: { keys: { labels: ['region', 'zone'], claims: ['id', 'os'], scores: [], taints: [] } },
    });
  });

  it('may have keys that Berth does not know: templates read them', () => {
    expect(parse({ placement: 'a/b', tier: 1 })).toMatchObject({ ok: true });
  });

  it.each([
    { name: 'no placement', given: {}, says: /placement is missing/ },
    { name: 'a name alone', given: { placement: 'web' }, says: /must be NAMESPACE\/NAME/ },
    { name: 'three parts', given: { placement: 'a/b/c' }, says: /must be NAMESPACE\/NAME/ },
    {
      name: 'a placement that is no string',
      given: { placement: 5 },
      says: /placement must be a string, got 5/,
    },
    // Read as absent, it would answer the clusters of every group.
    {
      name: 'a group that is a number',
      given: { placement: 'a/b', group: 1 },
      says: /group must be a string, got 1/,
    },
    {
      name: 'a group that is null',
      given: { placement: 'a/b', group: null },
      says: /group must be a string, got null/,
    },
    { name: 'a list of groups', given: { placement: 'a/b', group: ['x'] }, says: /group must be a string/ },
    {
      name: 'labels that are a map',
      given: { placement: 'a/b', labels: { region: 'eu' } },
      says: /labels must be a list of strings/,
    },
    {
      name: 'scores with numbers',
      given: { placement: 'a/b', scores: ['x/y', 5] },
      says: /scores must be a list of strings/,
    },
    {
      name: 'another onEmpty',
      given: { placement: 'a/b', onEmpty: 'yes' },
      says: /onEmpty must be "error" or "allow"/,
    },
    {
      name: 'a flat that is no word',
      given: { placement: 'a/b', flat: 'maybe' },
      says: /flat must be "true" or "false"/,
    },
    {
      name: 'a key that Argo CD overwrites',
      given: { placement: 'a/b', as: 'values' },
      says: /as must be a word/,
    },
    { name: 'a soak without waves', given: { placement: 'a/b', soak: '1m' }, says: /soak has no effect/ },
  ])('is refused with $name', ({ given, says }) => {
    const parsed = parse(given);
    expect(parsed.ok).toBe(false);
    expect(!parsed.ok && parsed.message).toMatch(says);
  });

  it.each(['', '{', 'null', '[]', '5', '{"input":[]}', '{"input":{"parameters":"x"}}'])(
    'is refused where the body is %j',
    (body) => {
      expect(parsePluginRequest(body).ok).toBe(false);
    },
  );
});
