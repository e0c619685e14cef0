import { describe, expect, it } from 'vitest';
import { APPLICATION, APPLICATION_SET } from './argo-installation.ts';
import { CLUSTERS, type GeneratorWorld, template } from './generator-world.ts';

const CHOSEN = ['c1', 'c2', 'c3'];

/** What an ApplicationSet itself says, beside its generator: policies, what is kept, several generators. The rows of docs/argocd.md. */
export function setRows(world: () => GeneratorWorld): void {
  const plugin = (name: string) => ({
    plugin: { configMapRef: { name: 'berth' }, input: { parameters: { placement: `team-a/${name}` } } },
  });
  const named = (set: string, clusters: readonly string[]) => clusters.map((name) => `${set}-${name}`);
  const names = async (set: string) => Object.keys(await world().applications(set)).sort();
  const look = async (set: string) => (await world().refresh(set), names(set));
  /** An ApplicationSet of a placement of its own, with an Application on each cluster. */
  const prepared = async (set: string, spec: object = {}) => {
    await world().place(set, 'team-a');
    await world().applicationSet(set, [plugin(set)], spec);
    await expect.poll(() => look(set)).toEqual(named(set, CLUSTERS));
    return world().applications(set);
  };
  /** The clusters that Berth answered last. */
  const answered = (set: string): readonly string[] => {
    const last = world().relay.exchanges.findLast(({ asked }) => asked.applicationSetName === set);
    const { output } = JSON.parse(last?.answered ?? '{}') as { output?: { parameters: { name: string }[] } };
    return (output?.parameters ?? []).map(({ name }) => name);
  };
  const relabel = (set: string) => ({
    spec: { template: template(`${set}-{{ .clusterName }}`, '{{ .name }}', { labels: { edited: 'yes' } }) },
  });
  const edited = async (set: string) =>
    (await world().applicationObjects(set)).filter(({ metadata }) => metadata.labels?.['edited'] === 'yes')
      .length;

  describe('an ApplicationSet whose policy', () => {
    it.each([
      { policy: 'sync', isDeleted: true, isWritten: true },
      { policy: 'create-only', isDeleted: false, isWritten: false },
      { policy: 'create-update', isDeleted: false, isWritten: true },
      { policy: 'create-delete', isDeleted: true, isWritten: false },
    ])('is $policy, when a cluster leaves and the template changes', async ({ policy, ...does }) => {
      const set = `policy-${policy}`;
      const before = await prepared(set, {
        syncPolicy: { applicationsSync: policy, preserveResourcesOnDeletion: true },
      });
      await world().choose(set, 'team-a', CHOSEN);
      await expect.poll(async () => (await world().refresh(set), answered(set))).toEqual(CHOSEN);
      await world().patch(APPLICATION_SET, set, relabel(set));
      const left = does.isDeleted ? CHOSEN : CLUSTERS;
      await expect.poll(() => look(set)).toEqual(named(set, left));
      // The Application of a cluster that left is not rendered, so it is not written.
      await expect.poll(() => edited(set)).toBe(does.isWritten ? CHOSEN.length : 0);
      expect(Object.values(before)).toEqual(
        expect.arrayContaining(Object.values(await world().applications(set))),
      );
      await world().remove(APPLICATION_SET, set);
    });
  });

  describe('an ApplicationSet', () => {
    it('with two generators, one of which fails: nothing of either is written or deleted', async () => {
      const before = await prepared('pair-of');
      const generators = [plugin('pair-of'), plugin('nowhere')];
      await world().patch(APPLICATION_SET, 'pair-of', { spec: { generators } });
      await world().choose('pair-of', 'team-a', CHOSEN);
      await expect.poll(() => world().published('pair-of', 'team-a')).toEqual(CHOSEN);
      await expect
        .poll(async () => (await world().refresh('pair-of')).error)
        .toMatch(/nothing is published for placement/);
      expect(await world().applications('pair-of')).toEqual(before);
    });

    it('whose template uses a key that no item has: error, all are kept', async () => {
      const before = await prepared('keyless-text', { goTemplateOptions: ['missingkey=error'] });
      const spec = { template: template('keyless-text-{{ .clusterNme }}', '{{ .name }}') };
      await world().patch(APPLICATION_SET, 'keyless-text', { spec });
      await expect
        .poll(async () => (await world().refresh('keyless-text')).error)
        .toMatch(/map has no entry for key "clusterNme"/);
      expect(await world().applications('keyless-text')).toEqual(before);
    });

    it('whose project does not exist: error, all are kept and not written', async () => {
      const before = await prepared('projectless');
      await world().patch(APPLICATION_SET, 'projectless', {
        spec: { template: { spec: { project: 'nowhere' } } },
      });
      await expect.poll(async () => (await world().refresh('projectless')).error).toMatch(/nowhere/);
      expect(await world().applications('projectless')).toEqual(before);
      const projects = (await world().applicationObjects('projectless')).map(
        ({ spec }) => (spec as { readonly project: string }).project,
      );
      expect(new Set(projects)).toEqual(new Set(['default']));
    });

    it('with a matrix of the plugin and a generator that gives nothing: all are deleted', async () => {
      await prepared('matrix-empty');
      const clusters = { clusters: { selector: { matchLabels: { tier: 'nobody' } } } };
      await world().patch(APPLICATION_SET, 'matrix-empty', {
        spec: { generators: [{ matrix: { generators: [clusters, plugin('matrix-empty')] } }] },
      });
      await expect.poll(() => look('matrix-empty')).toEqual([]);
    });

    it('takes annotations from its Applications that others wrote, unless it preserves them', async () => {
      await prepared('annotated', { preservedFields: { annotations: ['kept.example.org'] } });
      const annotations = { 'kept.example.org': 'x', 'lost.example.org': 'x' };
      await world().patch(APPLICATION, 'annotated-c1', { metadata: { annotations } });
      await world().refresh('annotated');
      await expect
        .poll(async () => (await world().applicationObjects('annotated'))[0]?.metadata.annotations)
        .toEqual({ 'kept.example.org': 'x' });
    });

    it('gives its Applications the finalizer that removes what they made, unless it preserves that', async () => {
      const finalizers = async (set: string) =>
        new Set((await world().applicationObjects(set)).map(({ metadata }) => metadata.finalizers?.[0]));
      await prepared('finalized', { syncPolicy: {} });
      expect(await finalizers('finalized')).toEqual(new Set(['resources-finalizer.argocd.argoproj.io']));
      expect(await finalizers('annotated')).toEqual(new Set([undefined]));
    });
  });
}
