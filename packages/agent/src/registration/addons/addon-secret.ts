import { isDeepStrictEqual } from 'node:util';
import { KubeConfig } from '@berth/kube/config/kube-config';
import type { ClientPair } from '@berth/kube/config/rotating-kube-config';
import { parseKubeconfig } from '@berth/kube/config/parse-kubeconfig';
import { CLIENT_SIGNER } from '@berth/ocm/registration/names';
import { dump } from 'js-yaml';
import type { AddonRegistration } from '../../rules/addons/addon-registrations.ts';
import { type HubEntry, hubKubeconfig, sameHub } from '../../rules/registration/hub-entry.ts';
import { hubEntryOf } from '../credentials/credential-store.ts';

/**
 * The files in the Secret of an add-on's agent. Source of the names: open-cluster-management.io/ocm
 * `pkg/registration/register` and `register/csr`, `register/token`.
 */
export const ADDON_KEYS = ['tls.crt', 'tls.key', 'token', 'kubeconfig', 'cluster-name'] as const;
export type AddonFiles = Readonly<Partial<Record<(typeof ADDON_KEYS)[number], string>>>;

export interface SecretOwner {
  readonly registration: AddonRegistration;
  readonly clusterName: string;
  /** The connection to the hub, as the add-on's agent needs it: no file of this machine. */
  readonly entry: HubEntry;
}

/** All files of the Secret; undefined removes what another driver left. */
export function addonFiles(
  { registration, clusterName, entry }: SecretOwner,
  issued: ClientPair | { readonly token: string },
): { readonly [Key in keyof AddonFiles]: string | undefined } {
  const { signerName, driver } = registration;
  return {
    'tls.crt': 'certPem' in issued ? issued.certPem : undefined,
    'tls.key': 'keyPem' in issued ? issued.keyPem : undefined,
    token: 'token' in issued ? issued.token : undefined,
    kubeconfig: signerName === CLIENT_SIGNER ? dump(hubKubeconfig(entry, driver)) : undefined,
    'cluster-name': clusterName,
  };
}

/**
 * Whether the kubeconfig in the Secret leads to this hub with the credentials beside it. If not, the credentials may be
 * those of another hub. Certificates of other signers have no kubeconfig.
 */
export function leadsToHub(files: AddonFiles, { registration, entry }: SecretOwner): boolean {
  const { signerName, driver } = registration;
  if (signerName !== CLIENT_SIGNER) return true;
  const [found, wanted] = [files.kubeconfig, dump(hubKubeconfig(entry, driver))].map((text) => {
    try {
      return new KubeConfig(parseKubeconfig(text ?? '', '/'), {});
    } catch {
      return undefined;
    }
  });
  if (found === undefined || wanted === undefined) return false;
  const [user, wantedUser] = [found.getCurrentUser(), wanted.getCurrentUser()].map((one) => ({
    ...one,
    name: '',
  }));
  return sameHub(hubEntryOf(found), hubEntryOf(wanted)) && isDeepStrictEqual(user, wantedUser);
}
