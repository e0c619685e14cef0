import type { KubeObject } from '../../model/object-meta.ts';

/** On what `berth init` and `berth join` wrote: these objects are changed by a second run, and deleted by `clean` and `unjoin`. */
const INSTALLED_LABEL = 'berth.dev/installed-by';

/** The command that installs. */
export type Installer = 'init' | 'join';

/** The object with the mark of its installer. */
export function markInstalled(object: KubeObject, installer: Installer): KubeObject {
  const labels = { ...object.metadata.labels, [INSTALLED_LABEL]: installer };
  return { ...object, metadata: { ...object.metadata, labels } };
}

/** Others may have an object of the same name: it is left alone. */
export function isInstalledBy(object: KubeObject, installer: Installer): boolean {
  return object.metadata.labels?.[INSTALLED_LABEL] === installer;
}

/** For a list request. */
export const installedBy = (installer: Installer): string => `${INSTALLED_LABEL}=${installer}`;
