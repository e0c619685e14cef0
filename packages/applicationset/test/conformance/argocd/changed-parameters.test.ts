import { describe, expect, it } from 'vitest';
import { NotRendered } from '../../../src/failure/failures.ts';
import { generateApplications } from '../../../src/generate-applications.ts';
import type { JsonValue } from '../../../src/json/json-value.ts';
import { EMPTY_INPUTS } from '../../fakes/empty-generator-inputs.ts';

const LIST = { list: { elements: [{ cluster: 'a' }, { cluster: 'b' }] } };
const SHARED = { matrix: { generators: [{ list: { elements: [{ meta: { kind: 'shared' } }] } }, LIST] } };

/** As Argo CD 3.2.11 and 3.6.1 rendered them (test/interop/argocd/preview.test.ts compares with its server). */
describe('a function that changes the parameters', () => {
  const render = (generator: JsonValue, name: string, namespace: string, templatePatch?: string) => {
    const generated = generateApplications(
      {
        metadata: { name: 'set', namespace: 'argocd' },
        spec: {
          goTemplate: true,
          generators: [generator],
          template: {
            metadata: { name },
            spec: {
              project: 'default',
              source: { repoURL: 'https://git.example.com/web.git', path: '.', targetRevision: 'main' },
              destination: { name: 'c1', namespace },
            },
          },
          ...(templatePatch !== undefined && { templatePatch }),
        },
      },
      EMPTY_INPUTS,
    );
    if (!('applications' in generated)) throw new Error(generated.error);
    return generated.applications.map(({ metadata, spec }) => {
      const { name: shown, labels } = metadata as { name: string; labels?: { team?: string } };
      const { destination } = spec as { destination: { namespace: string } };
      return [shown, destination.namespace, labels?.team];
    });
  };

  it('changes them for the texts after it, and for the patch', () => {
    const name = '{{ $_ := set . "team" (upper .cluster) }}{{ .cluster }}';
    const patch = '{"metadata":{"labels":{"team":"{{ .team }}"}}}';
    expect(render(LIST, name, '{{ .team }}{{ $_ := set . "team" "z" }}', patch)).toEqual([
      ['a', 'A', 'z'],
      ['b', 'B', 'z'],
    ]);
    expect(
      render(
        LIST,
        name,
        '{{ $_ := unset . "team" }}',
        '{"metadata":{"labels":{"team":"{{ hasKey . "team" }}"}}}',
      ),
    ).toEqual([
      ['a', undefined, 'false'],
      ['b', undefined, 'false'],
    ]);
  });

  it('changes them for another set of parameters only where both share a map', () => {
    const name = '{{ .cluster }}{{ $_ := set .meta .cluster "seen" }}';
    const own = {
      list: {
        elements: [
          { cluster: 'a', meta: {} },
          { cluster: 'b', meta: {} },
        ],
      },
    };
    expect(render(own, name, '{{ len .meta }}')).toEqual([
      ['a', '1', undefined],
      ['b', '1', undefined],
    ]);
    expect(render(SHARED, name, '{{ len .meta }}')).toEqual([
      ['a', '2', undefined],
      ['b', '3', undefined],
    ]);
  });

  it.each([
    ['in the values of a generator', { clusters: { values: { x: '{{ $_ := set . "team" "z" }}' } } }],
    [
      'in the second child of a matrix',
      {
        matrix: {
          generators: [LIST, { list: { elements: [], elementsYaml: '{{ $_ := unset . "cluster" }}[]' } }],
        },
      },
    ],
  ])('is refused %s: there Argo CD keeps the change as well', (_where, generator) => {
    const refused = /Berth does not render a text of a generator that changes the parameters/;
    expect(() => render(generator, '{{ .cluster }}', 'x')).toThrow(refused);
    expect(() => render(generator, '{{ .cluster }}', 'x')).toThrow(NotRendered);
  });
});
