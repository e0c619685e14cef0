import path from 'node:path';
import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GitProgramRepository } from '../../../packages/git-reader/src/program/git-program-repository.ts';
import { SourceReader } from '../../../src/controllers/sources/reading/source-reader.ts';
import type { SourceContent } from '../../../src/controllers/sources/manifests/source-content.ts';
import { readSourceFolder } from '../../../src/controllers/sources/reading/read-source-folder.ts';
import { eachWithRepository } from '../../adapters/git/each-with-repository.ts';
import { type GitFixture, tempDir } from '../../../packages/git-reader/test/git-fixture.ts';

const replicaSet = (name: string, folder: string): string => `
apiVersion: work.open-cluster-management.io/v1alpha1
kind: ManifestWorkReplicaSet
metadata:
  name: ${name}
  namespace: team
  annotations: {berth.dev/manifests: ${folder}}
spec:
  manifestWorkTemplate: {}
  placementRefs: [{name: all}]
`;
const deployment = (image: string): string =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: web}\nspec: {template: {spec: {containers: [{name: a, image: "${image}"}]}}}\n`;
const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n';

function manifestsOf(content: SourceContent, name: string): readonly string[] | undefined {
  const found = content.objects.find(({ object }) => object.metadata.name === name)?.object;
  const spec = found?.['spec'] as
    | { manifestWorkTemplate: { workload?: { manifests: { kind: string; spec?: unknown }[] } } }
    | undefined;
  return spec?.manifestWorkTemplate.workload?.manifests.map(({ kind, spec: s }) =>
    `${kind}${JSON.stringify(s ?? '')}`.slice(0, 80),
  );
}

describe('manifests from a folder of the same commit', () => {
  let fixture: GitFixture;
  let repository: GitProgramRepository;
  eachWithRepository(GitProgramRepository, (given) => ({ fixture, repository } = given));

  it('fills each replica set from its own folder, although both hold objects of the same name', async () => {
    const commit = fixture.commit({
      'team/v1.yaml': replicaSet('v1', 'apps/v1'),
      'team/v2.yaml': replicaSet('v2', '/apps/v2/'),
      'apps/v1/deploy.yaml': deployment('one') + '---\n' + namespace,
      'apps/v2/deploy.yaml': deployment('two'),
    });
    const content = await new SourceReader(repository).read(commit);
    expect(content.problems).toEqual([]);
    expect(content.objects).toHaveLength(2);
    expect(manifestsOf(content, 'v1')?.map((m) => m.slice(0, 10))).toEqual(['Namespace"', 'Deployment']);
    expect(manifestsOf(content, 'v2')?.[0]).toContain('Deployment');
  });

  it.each([
    { name: 'a file in the folder breaks', change: { 'apps/v1/deploy.yaml': 'kind: [' } },
    { name: 'the folder is emptied', change: { 'apps/v1/deploy.yaml': null } },
  ])('holds the replica set as it was when $name', async ({ change }) => {
    const reader = new SourceReader(repository, { keepLastGood: true });
    const files = { 'team/v1.yaml': replicaSet('v1', 'apps/v1'), 'apps/v1/deploy.yaml': deployment('one') };
    const before = manifestsOf(await reader.read(fixture.commit(files)), 'v1');
    const content = await reader.read(fixture.commit({ ...change, 'other.yaml': namespace }));
    expect(content.complete).toBe(false);
    expect(content.problems.some(({ severity }) => severity === 'error')).toBe(true);
    expect(manifestsOf(content, 'v1')).toEqual(before);
  });

  it('works in a plain folder too, from its root', async () => {
    const root = tempDir();
    for (const [file, text] of Object.entries({
      'team/v1.yaml': replicaSet('v1', 'apps/v1'),
      'apps/v1/deploy.yaml': deployment('one'),
    })) {
      mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
      writeFileSync(path.join(root, file), text);
    }
    const content = await readSourceFolder(root);
    expect(content.problems).toEqual([]);
    expect(manifestsOf(content, 'v1')?.[0]).toContain('Deployment');
    const single = await readSourceFolder(path.join(root, 'team/v1.yaml'));
    expect(single.problems).toEqual([]);
  });
});
