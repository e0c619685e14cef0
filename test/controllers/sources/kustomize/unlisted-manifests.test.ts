import { describe, expect, it } from 'vitest';
import { findUnlistedManifests } from '../../../../src/controllers/sources/kustomize/unlisted-manifests.ts';
import { folderOf, isKustomization } from '../../../../src/controllers/sources/manifests/special-folders.ts';

const OBJECT = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';

function find(
  files: Readonly<Record<string, string>>,
  isWanted = (_path: string) => true,
  rendered: Parameters<typeof findUnlistedManifests>[1] = [],
) {
  const paths = Object.keys(files);
  const tree = {
    kustomizations: new Map(paths.filter(isKustomization).map((path) => [folderOf(path), path])),
    isWanted,
    versions: new Map(paths.map((path) => [path, ''])),
    refused: new Map(),
    read: async (wanted: readonly string[]) =>
      new Map(wanted.map((path) => [path, Buffer.from(files[path] ?? '')])),
    ambient: {},
  };
  return findUnlistedManifests(tree, rendered);
}
const messages = async (...of: Parameters<typeof find>) =>
  (await find(...of)).problems.map(({ message }) => message);

describe('manifests in the folder of a kustomization', () => {
  it.each<[string, Record<string, string>, string[]]>([
    [
      'a file beside it',
      {
        'fleet/kustomization.yaml': 'resources: [a.yaml]\n',
        'fleet/a.yaml': OBJECT,
        'fleet/new.yaml': OBJECT,
      },
      ['fleet/new.yaml: a manifest that no kustomization names; not read'],
    ],
    [
      'a folder below it',
      {
        'kustomization.yaml': 'resources:\n- a.yaml\n',
        'a.yaml': OBJECT,
        'teams/x.yaml': OBJECT,
        'teams/y.yml': OBJECT,
        'teams/z.json': '{"apiVersion": "v1",\n "kind": "Secret"}',
      },
      ['teams/: 3 manifests that no kustomization names (x.yaml, y.yml, z.json); not read'],
    ],
    [
      'an entry that is a comment',
      {
        'k/kustomization.yaml': 'resources:\n- a.yaml\n# - b.yaml\n',
        'k/a.yaml': OBJECT,
        'k/b.yaml': OBJECT,
      },
      ['k/b.yaml: a manifest that no kustomization names; not read'],
    ],
  ])('are named if nobody reads them: %s', async (_, files, want) => {
    expect(await messages(files)).toEqual(want);
  });

  it.each<[string, Record<string, string>]>([
    [
      'a base, a patch, a file of a generator',
      {
        'base/kustomization.yaml': 'resources: [a.yaml]\n',
        'base/a.yaml': OBJECT,
        'prod/kustomization.yaml':
          'resources: [../base]\npatches:\n- path: patch.yaml\nconfigMapGenerator:\n- files: [x=in.yaml]\n',
        'prod/patch.yaml': OBJECT,
        'prod/in.yaml': OBJECT,
      },
    ],
    [
      'what the configuration of a generator names',
      {
        'p/kustomization.yaml': 'generators: [gen.yaml]\n',
        'p/gen.yaml': `${OBJECT}manifests: [{path: ns.yaml}]\n`,
        'p/ns.yaml': OBJECT,
      },
    ],
    [
      'no manifest',
      { 'k/kustomization.yaml': 'resources: []\n', 'k/values.yaml': 'a: 1\n', 'k/x.md': OBJECT },
    ],
    ['a file outside', { 'k/kustomization.yaml': 'resources: []\n', 'other/a.yaml': OBJECT }],
  ])('are not named if they are read, or are none: %s', async (_, files) => {
    expect(await messages(files)).toEqual([]);
  });

  it('are not named if the source leaves them out', async () => {
    const files = { 'k/kustomization.yaml': 'resources: []\n', 'k/a.yaml': OBJECT };
    expect(await messages(files, (path) => path !== 'k/a.yaml')).toEqual([]);
  });

  it('are not named if the kustomization cannot be rendered, where it is unknown', async () => {
    const files = { 'k/kustomization.yaml': 'resources: [', 'k/a.yaml': OBJECT };
    const problem = { severity: 'error', code: 'source.kustomize', message: 'failed' } as const;
    const broken = { manifests: [], problems: [problem], inputFolders: ['k'] };
    expect(await messages(files, undefined, [broken])).toEqual([]);
  });

  it('are counted as far as they are read', async () => {
    const files = { 'k/kustomization.yaml': 'resources: [a.yaml]\n', 'k/a.yaml': OBJECT, 'k/b.yaml': OBJECT };
    expect((await find(files)).files).toBe(2);
  });
});
