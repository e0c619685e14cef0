import { describe, expect, it } from 'vitest';
import { NotRendered } from '../src/failure/failures.ts';
import { generateApplications } from '../src/generate-applications.ts';
import type { JsonValue } from '../src/json/json-value.ts';
import { EMPTY_INPUTS } from './fakes/empty-generator-inputs.ts';

type Spec = Readonly<Record<string, JsonValue>>;

function generate(name: string, spec: Spec = {}) {
  const template = {
    metadata: { name },
    spec: {
      project: 'default',
      source: { repoURL: 'https://git.example.com/web.git', path: '.', targetRevision: 'main' },
      destination: { name: 'c1', namespace: 'web' },
    },
  };
  const generators = [{ list: { elements: [{ cluster: 'a' }, { cluster: 'b' }] } }];
  const metadata = { name: 'set', namespace: 'argocd' };
  return generateApplications(
    { metadata, spec: { goTemplate: true, generators, template, ...spec } },
    EMPTY_INPUTS,
  );
}

describe('the Applications of an ApplicationSet', () => {
  it('are one for each set of parameters, with the namespace of the ApplicationSet', () => {
    const generated = generate('web-{{ .cluster }}');
    const metadata = 'applications' in generated && generated.applications.map((one) => one['metadata']);
    expect(metadata).toEqual(
      ['web-a', 'web-b'].map((name) => ({
        name,
        namespace: 'argocd',
        finalizers: ['resources-finalizer.argocd.argoproj.io'],
      })),
    );
  });

  it.each([
    {
      name: 'a key that no element has',
      text: '{{ .nothing }}',
      spec: { goTemplateOptions: ['missingkey=error'] },
      reason: 'RenderTemplateParamsError',
      error: /map has no entry for key "nothing"/,
    },
    {
      name: 'a generator that cannot be read',
      text: 'x',
      spec: { generators: [{ list: { elements: [], elementsYaml: 'a: [1' } }] },
      reason: 'ApplicationGenerationFromParamsError',
      error: /yaml: line 1: did not find expected ',' or '\]'/,
    },
    {
      name: 'an option that text/template does not know',
      text: '{{ .cluster }}',
      spec: { goTemplateOptions: ['missingkey=never'] },
      reason: 'Panic',
      error: /unrecognized option: missingkey=never/,
    },
  ])('are none where Argo CD fails, too: $name', ({ text, spec, reason, error }) => {
    const generated = generate(text, spec);
    expect(generated).toMatchObject({ reason });
    expect('error' in generated && generated.error).toMatch(error);
  });
});

describe('what Argo CD would render and Berth does not is no failure of Argo CD, but NotRendered:', () => {
  it.each([
    { name: 'a function of time', text: '{{ now }}', says: /does not render the function now/ },
    { name: 'a random function', text: '{{ randAlpha 5 }}', says: /does not render the function randAlpha/ },
    { name: 'a list that is too long', text: '{{ until 1000000000 }}', says: /does not create it/ },
    { name: 'a text that is too long', text: '{{ repeat 100000000 "x" }}', says: /does not create it/ },
    {
      name: 'a patch that is nested too deep',
      text: 'x',
      spec: { templatePatch: '['.repeat(2000) },
      says: /nested more than 500 levels deep/,
    },
    {
      name: 'elements that are nested too deep',
      text: 'x',
      spec: { generators: [{ list: { elements: [], elementsYaml: '['.repeat(2000) } }] },
      says: /nested more than 500 levels deep/,
    },
    {
      name: 'a generator that asks a forge',
      text: 'x',
      spec: { generators: [{ pullRequest: { github: { owner: 'o', repo: 'r' } } }] },
      says: /pullRequest/,
    },
    {
      name: 'a template without metadata',
      text: 'x',
      spec: { template: { spec: { project: 'default' } } },
      says: /^spec\.template\.metadata is missing/,
    },
    {
      name: 'no template',
      text: 'x',
      spec: { template: null },
      says: /^spec\.template\.metadata is missing/,
    },
  ])('$name', ({ text, spec, says }) => {
    expect(() => generate(text, spec)).toThrow(NotRendered);
    expect(() => generate(text, spec)).toThrow(says);
  });
});
