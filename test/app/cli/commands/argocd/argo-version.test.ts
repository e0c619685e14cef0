import { expect, it } from 'vitest';
import { argoVersion } from '../../../../../src/app/cli/commands/argocd/argo-version.ts';
import { InputError } from '@berth/runtime/errors';
import { DEPLOYMENT } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';

const CONTROLLER = 'argocd-applicationset-controller';
const MESH = 'docker.io/istio/proxyv2:1.24.0';

interface Deployment {
  readonly name: string;
  readonly images?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly namespace?: string;
}

async function versionWith(...deployments: readonly Deployment[]): Promise<string | undefined> {
  const hub = new FakeKubeApi();
  hub.addKind(DEPLOYMENT);
  for (const { name, images = [], labels = {}, namespace = 'argocd' } of deployments)
    await hub.create(DEPLOYMENT, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace, labels },
      spec: { template: { spec: { containers: images.map((image) => ({ image })) } } },
    });
  return argoVersion(hub, 'argocd');
}

it.each<[string, readonly Deployment[], string | undefined]>([
  ['a tag', [{ name: CONTROLLER, images: ['quay.io/argoproj/argocd:v3.6.1'] }], 'v3.6.1'],
  [
    'a tag and a digest',
    [{ name: CONTROLLER, images: ['quay.io/argoproj/argocd:v3.6.1@sha256:0a'] }],
    'v3.6.1',
  ],
  ['a mirror with a port', [{ name: CONTROLLER, images: ['mirror:5000/team/my-argocd:3.5.7'] }], '3.5.7'],
  ['a container of a mesh beside it', [{ name: CONTROLLER, images: [MESH, 'argocd:v3.4.0'] }], 'v3.4.0'],
  ['another name, as with Helm', [{ name: `cd-${CONTROLLER}`, images: ['argocd:v3.4.0'] }], 'v3.4.0'],
  ['only the server', [{ name: 'argocd-server', images: ['argocd:v3.4.0'] }], 'v3.4.0'],
  [
    'two versions: that of the controller that generates',
    [
      { name: 'argocd-server', images: ['argocd:v3.6.1'] },
      { name: CONTROLLER, images: ['argocd:v3.2.11'] },
    ],
    'v3.2.11',
  ],
  [
    'a digest only, and the label of the Helm chart',
    [
      {
        name: CONTROLLER,
        images: ['quay.io/argoproj/argocd@sha256:0a'],
        labels: { 'app.kubernetes.io/version': 'v3.5.7' },
      },
    ],
    'v3.5.7',
  ],
  ['a digest only', [{ name: CONTROLLER, images: ['quay.io/argoproj/argocd@sha256:0a'] }], undefined],
  ['a tag that is no version', [{ name: CONTROLLER, images: ['quay.io/argoproj/argocd:latest'] }], undefined],
  ['another namespace', [{ name: CONTROLLER, images: ['argocd:v3.6.1'], namespace: 'other' }], undefined],
  ['no Deployment', [], undefined],
])('the version of Argo CD with %s', async (_name, deployments, want) => {
  expect(await versionWith(...deployments)).toBe(want);
});

it('is not known to a user who may not list Deployments', async () => {
  const refused = () => Promise.reject(new InputError('no', { code: 'kube.forbidden', subject: 'x' }));
  expect(await argoVersion({ list: refused } as unknown as KubeApi, 'argocd')).toBeUndefined();
});
