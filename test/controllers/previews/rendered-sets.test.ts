import { describe, expect, it } from 'vitest';
import { RenderedSets } from '../../../src/controllers/previews/rendered-sets.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { EMPTY_INPUTS } from '../../../packages/applicationset/test/fakes/empty-generator-inputs.ts';

const setOf = (name: string, applications: number): KubeObject => ({
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'ApplicationSet',
  metadata: { name, namespace: 'argocd' },
  spec: {
    goTemplate: true,
    generators: [{ list: { elements: Array.from({ length: applications }, (_, at) => ({ at: `${at}` })) } }],
    template: { metadata: { name: `${name}-{{ .at }}` }, spec: { project: 'default' } },
  },
});

describe('ApplicationSets that were rendered', () => {
  it('are found again by the object that they were read from', () => {
    const rendered = new RenderedSets();
    const set = setOf('a', 3);
    const first = rendered.generatorOf(set, set);
    const applications = first.generate(EMPTY_INPUTS);
    rendered.settle();
    expect(rendered.generatorOf(set, { ...set })).toBe(first);
    expect(rendered.generatorOf(setOf('a', 3), set)).not.toBe(first);
    expect(first.generate(EMPTY_INPUTS)).toEqual(applications);
  });

  it('are forgotten where they take too much memory, first those that were not asked for lately', () => {
    const rendered = new RenderedSets(10);
    const [a, b, c] = [setOf('a', 4), setOf('b', 4), setOf('c', 4)];
    for (const set of [a, b, c]) rendered.generatorOf(set, set).generate(EMPTY_INPUTS);
    const before = rendered.generatorOf(a, a);
    rendered.settle();
    expect(rendered.applications).toBe(8);
    expect(rendered.generatorOf(a, a)).toBe(before);
  });
});
