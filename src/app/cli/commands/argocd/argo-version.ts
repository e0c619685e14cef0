import { InputError } from '@berth/runtime/errors';
import { DEPLOYMENT } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';

/** Deployments of Argo CD, the one that generates first. With Helm and the operator they begin with the name of the installation. */
const DEPLOYMENTS = [/applicationset-controller$/, /repo-server$/, /server$/];
const VERSION_LABEL = 'app.kubernetes.io/version';
/** Of whatever registry, with the tag that a mirror gave it. */
const IMAGE = /(?:^|\/)[^/:@]*argocd[^/:@]*:(v?\d[^@]*)/;

/** From the tag of an image, else from the label that the Helm chart sets. Undefined also where this user may not look. */
export async function argoVersion(hub: KubeApi, namespace: string): Promise<string | undefined> {
  const deployments = await deploymentsOf(hub, namespace);
  const ofArgo = DEPLOYMENTS.flatMap((name) =>
    deployments.filter(({ metadata }) => name.test(metadata.name)),
  );
  const tags = ofArgo.flatMap(imagesOf).map((image) => IMAGE.exec(image)?.[1]);
  const labels = ofArgo.map(({ metadata }) => metadata.labels?.[VERSION_LABEL]);
  return [...tags, ...labels].find((version) => version !== undefined);
}

async function deploymentsOf(hub: KubeApi, namespace: string): Promise<readonly KubeObject[]> {
  try {
    return (await hub.list(DEPLOYMENT, { namespace })).items;
  } catch (error) {
    if (error instanceof InputError) return [];
    throw error;
  }
}

function imagesOf(deployment: KubeObject): readonly string[] {
  const { template } = (deployment['spec'] ?? {}) as {
    readonly template?: { readonly spec?: { readonly containers?: readonly { readonly image?: string }[] } };
  };
  return (template?.spec?.containers ?? []).map(({ image = '' }) => image);
}
