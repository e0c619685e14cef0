import { describe, expect, it } from 'vitest';
import { NotRendered } from '../../../src/failure/failures.ts';
import { generateApplications } from '../../../src/generate-applications.ts';
import type { JsonValue } from '../../../src/json/json-value.ts';
import { renderGoTemplate } from '@berth/go-template/render-go-template';
import { TemplateError, type TemplateValue } from '@berth/go-template/values';
import { EMPTY_INPUTS } from '../../fakes/empty-generator-inputs.ts';
import { TPL_CASES } from './since-3-6.ts';

describe('the function tpl, since Argo CD 3.6', () => {
  it.each(TPL_CASES)('$name', ({ template, params, options = [], output, error }) => {
    const render = () => renderGoTemplate(template, params as TemplateValue, options);
    if (output !== undefined) return expect(render()).toBe(output);
    expect(render).toThrow(new TemplateError(error));
  });
});

describe('ApplicationSets, since Argo CD 3.6', () => {
  const set = (generator: JsonValue, source: JsonValue, name: string): JsonValue => ({
    metadata: { name: 'set', namespace: 'argocd' },
    spec: {
      goTemplate: true,
      generators: [generator],
      template: { metadata: { name }, spec: { project: 'default', source, destination: { name: 'c1' } } },
    },
  });

  it('keep the field disableExtensionFilter', () => {
    const source = { repoURL: 'https://git.example.com', directory: { disableExtensionFilter: true } };
    const generated = generateApplications(set({ list: { elements: [{}] } }, source, 'web'), EMPTY_INPUTS);
    expect(generated).toMatchObject({ applications: [{ spec: { source } }] });
  });

  it('do not take the times of requests from cluster Secrets', () => {
    const annotations = {
      'argocd.argoproj.io/refresh-timestamp': 'a',
      'argocd.argoproj.io/hydrate-timestamp': 'b',
      kept: 'c',
    };
    const labels = { 'argocd.argoproj.io/secret-type': 'cluster' };
    const clusters = [{ secretName: 's', name: 'c1', server: 'https://c1', labels, annotations }];
    const name = 'x{{ range $key, $_ := .metadata.annotations }}{{ $key }}{{ end }}';
    const ofType = { clusters: { selector: { matchLabels: labels } } };
    const generated = generateApplications(set(ofType, {}, name), { ...EMPTY_INPUTS, clusters });
    expect(generated).toMatchObject({ applications: [{ metadata: { name: 'xkept' } }] });
  });

  it.each([
    ['at the top', { oci: { repoURL: 'oci://example.com/x', revision: 'v1', files: [{ path: '*' }] } }],
    [
      'in a matrix',
      {
        matrix: {
          generators: [{ list: { elements: [{}] } }, { oci: { repoURL: 'oci://x', revision: 'v1' } }],
        },
      },
    ],
  ])('are refused with the generator oci %s', (_where, generator) => {
    const render = () => generateApplications(set(generator, {}, 'x'), EMPTY_INPUTS);
    expect(render).toThrow(NotRendered);
    expect(render).toThrow(/\.oci is not rendered, because it reads an OCI registry/);
  });
});
