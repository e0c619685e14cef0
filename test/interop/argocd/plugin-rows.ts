import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { CONFIG_MAP, PLACEMENT } from '@berth/kube/model/kinds';
import { placement } from '../../app/serve/fleet-fixture.ts';
import { APPLICATION_SET, SECRET } from './argo-installation.ts';
import { CLUSTERS, type GeneratorWorld, selecting, TOKENS, until } from './generator-world.ts';

const STALE_MS = 6 * 60_000;

/** A row of docs/argocd.md: Argo CD must see an error, and delete nothing. */
interface FailureRow {
  readonly name: string;
  readonly begin: (world: GeneratorWorld) => unknown;
  readonly end?: (world: GeneratorWorld) => unknown;
  /** Part of the message in the ApplicationSet's condition. */
  readonly error: RegExp;
}

const token = (value: string) => (world: GeneratorWorld) =>
  world.patch(SECRET, 'berth-plugin', { stringData: { token: value } });
const config = (data: Readonly<Record<string, string | null>>) => (world: GeneratorWorld) =>
  world.patch(CONFIG_MAP, 'berth', { data });
const answer = (status: number, body: string) => (world: GeneratorWorld) => {
  world.relay.mood = { status, body };
};
const ownConfig = (world: GeneratorWorld) =>
  config({ baseUrl: world.relayUrl, token: '$berth-plugin:token', requestTimeout: '5' })(world);

const FAILURES: readonly FailureRow[] = [
  {
    name: 'Berth is stopped',
    begin: (world) => world.stopBerth(),
    end: (world) => world.serve(),
    error: /EOF|connection re/,
  },
  {
    name: 'nothing listens at its address',
    begin: config({ baseUrl: 'http://127.0.0.1:1' }),
    end: ownConfig,
    error: /connection refused/,
  },
  {
    name: 'Berth is killed while it answers',
    begin: (world) => {
      world.relay.mood = 'reset';
    },
    error: /EOF|connection re/,
  },
  {
    name: 'its answer is cut in the middle',
    begin: (world) => {
      world.relay.mood = 'cut';
    },
    error: /unexpected EOF/,
  },
  {
    name: 'Berth is slower than requestTimeout',
    begin: async (world) => {
      world.relay.mood = 'slow';
      await config({ requestTimeout: '1' })(world);
    },
    end: ownConfig,
    error: /Client\.Timeout|deadline exceeded/,
  },
  {
    name: 'Berth started and has not read the hub yet',
    begin: async (world) => {
      await world.stopBerth();
      world.way.set('refuse');
      await world.serve();
    },
    end: async (world) => {
      world.way.set('pass');
      await world.stopBerth();
      await (await world.serve()).whenReady();
    },
    error: /Berth cannot respond yet: .* have not been read yet/,
  },
  {
    name: 'what Berth knows is stale, because the hub is away for long',
    begin: (world) => {
      world.way.set('refuse');
      world.clock.skip(STALE_MS);
    },
    end: (world) => {
      world.way.set('pass');
      world.clock.skip(60_000);
    },
    error: /Berth cannot respond yet: .* were last confirmed \d+ s ago/,
  },
  {
    name: 'the token is wrong',
    begin: token('not-the-token-of-anyone'),
    end: token(TOKENS.teamA),
    error: /the bearer token is not accepted/,
  },
  {
    name: 'the token is the placeholder of the manifest',
    begin: token('REPLACE-WITH-openssl-rand-hex-32'),
    end: token(TOKENS.teamA),
    error: /placeholder of the shipped manifest/,
  },
  {
    name: 'the token is another tenant’s',
    begin: token(TOKENS.teamB),
    end: token(TOKENS.teamA),
    error: /token team-b may not read placements of namespace team-a/,
  },
  {
    name: 'the path binds another namespace',
    begin: (world) => config({ baseUrl: `${world.relayUrl}/namespaces/team-b` })(world),
    end: ownConfig,
    error: /the path of baseUrl may not read placements of namespace team-a/,
  },
  {
    name: 'the Secret has no such key, so that its name is sent',
    begin: config({ token: '$berth-plugin:tokn' }),
    end: ownConfig,
    error: /the bearer token is not accepted/,
  },
  {
    name: 'the ConfigMap has no baseUrl',
    begin: config({ baseUrl: null }),
    end: ownConfig,
    error: /baseUrl not found in ConfigMap/,
  },
  {
    name: 'the ConfigMap is gone',
    begin: async (world) => {
      await world.remove(CONFIG_MAP, 'berth');
      // Argo CD reads it from a cache.
      await until(async () => expect((await world.refresh('web')).outcome).toBe('failed'));
    },
    end: (world) => world.connect('berth'),
    error: /configmaps? .*"berth" not found|ConfigMap .*berth/i,
  },
  {
    name: 'the Secret of the token is gone',
    begin: config({ token: '$nowhere:token' }),
    end: ownConfig,
    error: /nowhere/,
  },
  {
    name: 'the path of baseUrl is misspelt',
    begin: (world) => config({ baseUrl: `${world.relayUrl}/namespace/team-a` })(world),
    end: ownConfig,
    error: /namespace/,
  },
  {
    name: 'the token in the ConfigMap does not begin with $',
    begin: config({ token: 'plain' }),
    end: ownConfig,
    error: /does not reference a secret key starting with '\$'/,
  },
  {
    name: 'requestTimeout is no bare number of seconds',
    begin: config({ requestTimeout: '5s' }),
    end: ownConfig,
    error: /error set requestTimeout/,
  },
  {
    name: 'something between answers 502 with a page',
    begin: answer(502, '<html>bad gateway</html>'),
    error: /API error with status code 502.*bad gateway/s,
  },
  {
    name: 'something between answers 200 without JSON',
    begin: answer(200, '<html>login</html>'),
    error: /invalid character/,
  },
];

/** The plugin generator: section by section of docs/argocd.md, with the real controller. */
export function pluginRows(world: () => GeneratorWorld): void {
  const all = CLUSTERS.map((name) => `web-${name}`);
  const names = async (set: string) => Object.keys(await world().applications(set)).sort();
  /** The hub has a new page a moment before Berth answers with it. */
  const look = async (set: string) => {
    await world().refresh(set);
    return names(set);
  };
  const plugin = (parameters: object, more: object = {}) => ({
    plugin: { configMapRef: { name: 'berth' }, input: { parameters }, ...more },
  });

  beforeAll(async () => {
    const { connect, place, applicationSet } = bound(world());
    await connect('berth');
    await place('web', 'team-a');
    await applicationSet('web', [plugin({ placement: 'team-a/web' })]);
    await until(async () => expect(await look('web')).toEqual(all));
  });

  describe('the plugin generator keeps every Application', () => {
    it.each(FAILURES)('while $name', async ({ begin, end, error }) => {
      expect(await world().refresh('web')).toEqual({ outcome: 'done', error: '' });
      const before = await world().applications('web');
      expect(Object.keys(before).sort()).toEqual(all);
      await begin(world());
      try {
        await expect.poll(async () => (await world().refresh('web')).error).toMatch(error);
        expect(await world().applications('web')).toEqual(before);
      } finally {
        world().relay.mood = 'pass';
        await end?.(world());
      }
      await expect.poll(async () => (await world().refresh('web')).outcome).toBe('done');
      expect(await world().applications('web')).toEqual(before);
    });

    it('and gets the last decision while the hub is away from Berth for a short time', async () => {
      const before = await world().applications('web');
      world().way.set('refuse');
      expect(await world().refresh('web')).toEqual({ outcome: 'done', error: '' });
      expect(world().relay.exchanges.at(-1)).toMatchObject({ status: 200 });
      world().way.set('pass');
      expect(await world().applications('web')).toEqual(before);
    });

    it('and gets the last decision after Berth lost its data directory', async () => {
      const before = await world().applications('web');
      await world().stopBerth();
      rmSync(join(world().dir, 'data'), { recursive: true, force: true });
      const running = await world().serve();
      await running.whenReady();
      expect(await world().refresh('web')).toEqual({ outcome: 'done', error: '' });
      expect(await world().applications('web')).toEqual(before);
    });
  });

  describe('the plugin generator follows', () => {
    it('what it asks: name, parameters and token, and what it is answered', async () => {
      await world().refresh('web');
      const exchange = world().relay.exchanges.at(-1);
      expect(exchange).toMatchObject({
        path: '/api/v1/getparams.execute',
        authorization: `Bearer ${TOKENS.teamA}`,
        asked: { applicationSetName: 'web', input: { parameters: { placement: 'team-a/web' } } },
        status: 200,
      });
      expect(JSON.parse(exchange?.answered ?? '').output.parameters[0]).toMatchObject({
        name: 'c1',
        nameNormalized: 'c1',
        clusterSet: 'prod',
        labels: { region: 'eu' },
      });
    });

    it('a placement that selects one cluster less, and again', async () => {
      await world().choose('web', 'team-a', ['c1', 'c2', 'c3']);
      await expect.poll(() => world().published('web', 'team-a')).toEqual(['c1', 'c2', 'c3']);
      await expect.poll(() => look('web')).toEqual(['web-c1', 'web-c2', 'web-c3']);
      await world().choose('web', 'team-a', CLUSTERS);
      await expect.poll(() => world().published('web', 'team-a')).toEqual([...CLUSTERS]);
      await expect.poll(() => look('web')).toEqual(all);
    });

    it('nothing of a change that is held, and the change when it is released', async () => {
      const before = await world().applications('web');
      await world().choose('web', 'team-a', ['c1']);
      const released = await world().heldCode('web', 'team-a');
      expect(await world().refresh('web')).toEqual({ outcome: 'done', error: '' });
      expect(await world().applications('web')).toEqual(before);
      await world().patch(
        PLACEMENT,
        'web',
        { metadata: { annotations: { 'berth.dev/release': released } } },
        'team-a',
      );
      await expect.poll(() => world().published('web', 'team-a')).toEqual(['c1']);
      await expect.poll(() => look('web')).toEqual(['web-c1']);
      await world().choose('web', 'team-a', CLUSTERS);
      await expect.poll(() => world().published('web', 'team-a')).toEqual([...CLUSTERS]);
      await expect.poll(() => look('web')).toEqual(all);
    });
  });

  describe('a placement that is emptied', () => {
    const empty = async (name: string) => {
      await world().choose(name, 'team-a', []);
      return world().heldCode(name, 'team-a');
    };
    const release = async (name: string, released: string) => {
      const annotations = { 'berth.dev/release': released };
      await world().patch(PLACEMENT, name, { metadata: { annotations } }, 'team-a');
      await expect.poll(() => world().published(name, 'team-a')).toEqual([]);
    };

    it('deletes nothing without consent, nor with consent to the decision alone, but where empty is allowed', async () => {
      const { place, applicationSet } = bound(world());
      await place('gone', 'team-a', ['c1', 'c2']);
      await applicationSet('gone', [plugin({ placement: 'team-a/gone' })]);
      await expect.poll(() => look('gone')).toEqual(['gone-c1', 'gone-c2']);
      const before = await world().applications('gone');
      const released = await empty('gone');
      expect(await world().refresh('gone')).toEqual({ outcome: 'done', error: '' });
      expect(await world().applications('gone')).toEqual(before);
      await release('gone', released);
      await expect
        .poll(async () => (await world().refresh('gone')).error)
        .toMatch(/selects no cluster; an empty response would delete every Application/);
      expect(await world().applications('gone')).toEqual(before);
      const annotations = { 'berth.dev/on-empty': 'allow' };
      await world().patch(PLACEMENT, 'gone', { metadata: { annotations } }, 'team-a');
      await expect.poll(async () => (await world().refresh('gone')).outcome).toBe('done');
      await expect.poll(() => look('gone')).toEqual([]);
    });
  });

  describe('a placement that is not there any more', () => {
    it.each([
      ['deleted', false],
      ['renamed', true],
    ])('because it was %s keeps the Applications', async (how, isRenamed) => {
      const name = `left-${how}`;
      const { place, applicationSet } = bound(world());
      await place(name, 'team-a', ['c1', 'c2']);
      await applicationSet(name, [plugin({ placement: `team-a/${name}` })]);
      await expect.poll(() => look(name)).toHaveLength(2);
      const before = await world().applications(name);
      await world().remove(PLACEMENT, name, 'team-a');
      const annotations = { 'berth.dev/scheduler': 'berth' };
      if (isRenamed)
        await world().create(PLACEMENT, placement(`${name}-2`, selecting(['c1']), annotations, 'team-a'));
      await expect.poll(() => world().published(name, 'team-a')).toEqual([]);
      await expect
        .poll(async () => (await world().refresh(name)).error)
        .toMatch(/nothing is published for placement/);
      expect(await world().applications(name)).toEqual(before);
    });
  });

  describe('what Berth never sends, but something between may: a success without clusters deletes every Application', () => {
    it.each([
      ['an empty body', ''],
      ['an empty object', '{}'],
      ['another key', '{"result":{"parameters":[{"clusterName":"c1"}]}}'],
      ['an empty list', '{"output":{"parameters":[]}}'],
    ])('%s', async (_name, body) => {
      expect((await world().refresh('web')).error).toBe('');
      await expect.poll(() => look('web')).toEqual(all);
      world().relay.mood = { status: 200, body };
      await expect.poll(() => look('web')).toEqual([]);
      world().relay.mood = 'pass';
      await expect.poll(() => look('web')).toEqual(all);
    });
  });

  describe('what templates see', () => {
    const labelsOf = async (set: string) =>
      (await world().applicationObjects(set)).map(({ metadata }) => metadata.labels);
    const labelled = (labels: Readonly<Record<string, string>>, name: string, destination: string) => ({
      metadata: { name, labels },
      spec: {
        project: 'default',
        source: { repoURL: 'https://git.example.org/apps.git', targetRevision: 'main', path: 'web' },
        destination: { name: destination, namespace: 'web' },
      },
    });

    it.each([
      {
        name: 'nested',
        parameters: {},
        goTemplate: true,
        region: '{{ .labels.region }}',
        cluster: '{{ .clusterName }}',
      },
      {
        name: 'flat-go',
        parameters: { flat: true },
        goTemplate: true,
        region: '{{ index . "labels.region" }}',
        cluster: '{{ .clusterName }}',
      },
      {
        name: 'below-one-key',
        parameters: { as: 'web' },
        goTemplate: true,
        region: '{{ .web.labels.region }}',
        cluster: '{{ .web.clusterName }}',
      },
      {
        name: 'nested-fast',
        parameters: {},
        goTemplate: false,
        region: '{{labels.region}}',
        cluster: '{{clusterName}}',
      },
      {
        name: 'flat-fast',
        parameters: { flat: 'true' },
        goTemplate: false,
        region: '{{labels.region}}',
        cluster: '{{clusterName}}',
      },
    ])('$name', async ({ name, parameters, goTemplate, region, cluster }) => {
      await world().applicationSet(name, [plugin({ placement: 'team-a/web', ...parameters })], {
        goTemplate,
        ...(goTemplate && { goTemplateOptions: ['missingkey=error'] }),
        template: labelled({ region, cluster }, `${name}-${cluster}`, cluster),
      });
      await expect
        .poll(() => labelsOf(name))
        .toEqual(CLUSTERS.map((one) => ({ region: 'eu', cluster: one })));
      await world().remove(APPLICATION_SET, name);
    });

    it('values, which may use what the plugin answered, and a selector behind the generator', async () => {
      const generator = {
        ...plugin({ placement: 'team-a/web' }, { values: { of: '{{ .labels.region }}-{{ .wave }}' } }),
        selector: { matchExpressions: [{ key: 'clusterName', operator: 'In', values: ['c2', 'c3'] }] },
      };
      const template = labelled({ of: '{{ .values.of }}' }, 'values-{{ .clusterName }}', '{{ .name }}');
      await world().applicationSet('values', [generator], { template });
      await expect.poll(() => labelsOf('values')).toEqual([{ of: 'eu-w0' }, { of: 'eu-w0' }]);
    });

    it('a matrix: asked once for each item of the first child, with its parameters', async () => {
      const list = { list: { elements: [{ of: 'web' }, { of: 'web', x: '2' }].slice(0, 1) } };
      const inner = plugin({ placement: 'team-a/{{ .of }}', as: 'found' });
      const template = labelled({ of: '{{ .of }}' }, 'matrix-{{ .found.clusterName }}', '{{ .found.name }}');
      await world().applicationSet('matrix', [{ matrix: { generators: [list, inner] } }], { template });
      await expect.poll(() => look('matrix')).toEqual(CLUSTERS.map((one) => `matrix-${one}`));
      const asked = world().relay.exchanges.filter(
        ({ asked: { applicationSetName } }) => applicationSetName === 'matrix',
      );
      expect(asked[0]?.asked.input.parameters).toEqual({ placement: 'team-a/web', as: 'found' });
    });

    it('two plugins in a matrix, kept apart by `as`', async () => {
      const children = ['one', 'two'].map((as) => plugin({ placement: 'team-a/web', as }));
      const template = labelled({}, 'pair-{{ .one.clusterName }}-{{ .two.clusterName }}', '{{ .two.name }}');
      await world().applicationSet('pair', [{ matrix: { generators: children } }], { template });
      await expect.poll(() => look('pair')).toHaveLength(CLUSTERS.length ** 2);
      await world().remove(APPLICATION_SET, 'pair');
    });

    it('a merge with a list, by the flat name of a label', async () => {
      const list = { list: { elements: [{ 'labels.name': 'c2', extra: 'yes' }] } };
      const base = {
        plugin: {
          configMapRef: { name: 'berth' },
          input: { parameters: { placement: 'team-a/web', flat: true } },
          values: {},
        },
      };
      const template = labelled(
        { extra: '{{ .extra | default "no" }}' },
        'merge-{{ .clusterName }}',
        '{{ .name }}',
      );
      const merge = { mergeKeys: ['labels.name'], generators: [base, list] };
      await world().applicationSet('merge', [{ merge }], { template });
      await expect
        .poll(async () => (await labelsOf('merge')).map((labels) => labels?.['extra']))
        .toEqual(['no', 'yes', 'no', 'no']);
    });
  });

  describe('a cluster that Argo CD does not know', () => {
    it('keeps its Application, which is not written, and says so', async () => {
      await world().remove(SECRET, 'cluster-c4');
      const before = await world().applications('web');
      await expect
        .poll(async () => (await world().refresh('web')).error)
        .toMatch(/there are no clusters with this name: c4|c4/);
      expect(await world().applications('web')).toEqual(before);
      const { clusterSecret } = await import('./argo-installation.ts');
      await world().create(SECRET, clusterSecret('c4'));
      await expect.poll(async () => (await world().refresh('web')).error).toBe('');
    });
  });
}

function bound(world: GeneratorWorld) {
  return {
    connect: world.connect.bind(world),
    place: world.place.bind(world),
    applicationSet: world.applicationSet.bind(world),
  };
}
