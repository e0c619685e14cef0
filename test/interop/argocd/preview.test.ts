import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { generateApplications } from '@berth/applicationset/generate-applications';
import { EMPTY_INPUTS } from '../../../packages/applicationset/test/fakes/empty-generator-inputs.ts';
import { makeCliIo } from '../../app/cli-harness.ts';
import { TPL_CASES } from '../../../packages/applicationset/test/conformance/argocd/since-3-6.ts';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { ARGO_CONTROLLER_PROGRAMS } from '../peers/argocd-controller.ts';
import { type ArgoServer, startArgoServer } from '../peers/argocd-server.ts';
import { hasPeers } from '../peers/peer-programs.ts';
import { ROLE_BINDING, SERVER_RIGHTS } from './argo-installation.ts';
import { GeneratorWorld, template, until } from './generator-world.ts';

const applicationSet = (generator: object, cluster: string) => ({
  metadata: { name: 'preview', namespace: 'argocd' },
  spec: {
    goTemplate: true,
    generators: [generator],
    template: template(`preview-{{ ${cluster} }}`, '{{ .name }}'),
  },
});
const pages = {
  clusterDecisionResource: {
    configMapRef: 'berth-placement-decisions',
    labelSelector: { matchLabels: { 'cluster.open-cluster-management.io/placement': 'shop' } },
  },
};
const plugin = {
  plugin: { configMapRef: { name: 'berth' }, input: { parameters: { placement: 'team-a/web' } } },
};

function shown(application: object): object {
  const { metadata, spec } = application as {
    readonly metadata: Record<string, unknown>;
    readonly spec: object;
  };
  const { name, labels } = metadata;
  return { metadata: { name, ...(labels !== undefined && { labels }) }, spec };
}

describe.skipIf(!hasPeers(...ARGO_CONTROLLER_PROGRAMS))('a preview of Argo CD’s own server', () => {
  let inputs: GeneratorWorld;
  let server: ArgoServer;
  let kubeconfig: string;

  beforeAll(async () => {
    const hub = await startEmbeddedHub();
    kubeconfig = hub.kubeconfig;
    inputs = await GeneratorWorld.start(hub);
    for (const [kind, object] of SERVER_RIGHTS) await inputs.create(kind, object);
    await inputs.place('web', 'team-a', ['c1', 'c2']);
    await inputs.place('shop', 'argocd', ['c3']);
    server = await startArgoServer(inputs.dir, kubeconfig);
  });
  afterAll(async () => {
    await server?.stop();
    await inputs?.close();
  });
  const names = async (generator: object, cluster: string): Promise<readonly string[]> => {
    const { applications = [], message } = await server.generate(applicationSet(generator, cluster));
    if (message !== undefined) throw new Error(message);
    return (applications as readonly { readonly metadata: { readonly name: string } }[])
      .map(({ metadata }) => metadata.name)
      .sort();
  };

  it('fails before berth argocd install, of which the server gets notice', async () => {
    await expect(names(pages, '.clusterName')).rejects.toThrow(/berth-placement-decisions/);
    await expect(names(plugin, '.clusterName')).rejects.toThrow(/berth/);
  });

  it('shows the Applications of decision resources and of the plugin afterwards', async () => {
    const { io, stderr } = makeCliIo();
    const args = ['argocd', 'install', '--url', inputs.relayUrl, '--kubeconfig', kubeconfig];
    expect(await runCli(args, io), stderr()).toBe(0);
    await until(async () => expect(await names(pages, '.clusterName')).toEqual(['preview-c3']));
    await until(async () =>
      expect(await names(plugin, '.clusterName')).toEqual(['preview-c1', 'preview-c2']),
    );
  });

  it.each([
    ['a parameter of a set', { list: { elements: [{ cluster: 'a' }, { cluster: 'b' }] } }],
    [
      'a map that two sets share',
      {
        matrix: {
          generators: [
            { list: { elements: [{ meta: { kind: 'shared' } }] } },
            { list: { elements: [{ cluster: 'a' }, { cluster: 'b' }] } },
          ],
        },
      },
    ],
  ])('is what Berth renders where a text changes %s', async (_what, generator) => {
    const set = {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'ApplicationSet',
      metadata: { name: 'preview', namespace: 'argocd' },
      spec: {
        goTemplate: true,
        generators: [generator],
        template: {
          metadata: { name: '{{ $_ := set . "team" (upper .cluster) }}{{ .cluster }}' },
          spec: {
            project: 'default',
            source: {
              repoURL: 'https://git.example.com/web.git',
              path: '{{ if .meta }}{{ len .meta }}{{ $_ := set .meta .cluster "seen" }}{{ end }}/{{ .team }}',
              targetRevision: '{{ $_ := unset . "team" }}{{ if .meta }}{{ len .meta }}{{ end }}main',
            },
            destination: { name: 'c1', namespace: '{{ hasKey . "team" }}' },
          },
        },
        templatePatch: '{"metadata":{"labels":{"team":"{{ hasKey . "team" }}"}}}',
      },
    };
    const { applications = [], message } = await server.generate(set);
    expect(message).toBeUndefined();
    const ours = generateApplications(set, EMPTY_INPUTS);
    expect('applications' in ours ? ours.applications : ours).toMatchObject(applications.map(shown));
    expect(applications).toHaveLength(2);
  });

  it.each(TPL_CASES)('is as recorded for the function tpl: it $name', async (given) => {
    const { applications = [], message = '' } = await server.generate({
      metadata: { name: 'preview', namespace: 'argocd' },
      spec: {
        goTemplate: true,
        goTemplateOptions: given.options ?? [],
        generators: [{ list: { elements: [given.params] } }],
        template: {
          metadata: { name: 'tpl', annotations: { rendered: given.template } },
          spec: {
            project: 'default',
            source: { repoURL: 'https://git.example.com' },
            destination: { name: 'c1' },
          },
        },
      },
    });
    if (given.error !== undefined) return expect(message).toContain(given.error);
    expect(message).toBe('');
    expect(applications).toMatchObject([{ metadata: { annotations: { rendered: given.output } } }]);
  });

  it('is refused without the right that berth argocd install gives the server', async () => {
    await inputs.remove(ROLE_BINDING, 'read-placement-decisions');
    await until(() => expect(names(pages, '.clusterName')).rejects.toThrow(/forbidden/));
    expect(await names(plugin, '.clusterName')).toEqual(['preview-c1', 'preview-c2']);
  });
});
