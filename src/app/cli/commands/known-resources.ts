import type { KnownResources } from '../../../core/rbac/listed-kinds.ts';
import { BUILTIN_KINDS } from '@berth/kube/model/kinds';
import { ocmDefinitions } from '@berth/embedded-hub/scheme/ocm-definitions';

const ARGO_CD = 'argoproj.io';

/** The resources of the kinds of Kubernetes, OCM and Argo CD. */
export function knownResources(): KnownResources {
  const argoCd = ['Application', 'ApplicationSet', 'AppProject'].map((kind) => ({
    group: ARGO_CD,
    kind,
    plural: `${kind.toLowerCase()}s`,
  }));
  return new Map(
    [...BUILTIN_KINDS, ...ocmDefinitions(), ...argoCd].map(({ group, kind, plural }) => [
      `${group}/${kind}`,
      plural,
    ]),
  );
}
