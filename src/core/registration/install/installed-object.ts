import type { KubeObject } from '@berth/kube/model/object-meta';

/**
 * On objects that `berth init`, `berth join` and `berth install hub-addon` wrote. A second run changes these objects; `clean`,
 * `unjoin` and `uninstall` delete them.
 */
const INSTALLED_LABEL = 'berth.dev/installed-by';

/** The command that installs. */
export type Installer = 'init' | 'join' | `hub-addon.${string}`;

/** The object with the label of its installer. */
export function labelInstalled(object: KubeObject, installer: Installer): KubeObject {
  const labels = { ...object.metadata.labels, [INSTALLED_LABEL]: installer };
  return { ...object, metadata: { ...object.metadata, labels } };
}

/** Others may have an object of the same name. It is not changed. */
export function isInstalledBy(object: KubeObject, installer: Installer): boolean {
  return object.metadata.labels?.[INSTALLED_LABEL] === installer;
}

/** The label selector for a list request. */
export const installedBy = (installer: Installer): string => `${INSTALLED_LABEL}=${installer}`;

/**
 * Whether the `gitVersion` of a server is that of an embedded hub, or of one of its members. They say `v1.36.2+berth`:
 * clients read only what is before the plus sign as the version of Kubernetes.
 */
export function isEmbeddedVersion(gitVersion: string): boolean {
  return gitVersion.endsWith('+berth');
}
