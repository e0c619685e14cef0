import type { JsonObject } from '../../json/json-value.ts';
import { getOwn, isObject, listAt, objectAt, textAt } from '../../json/json-value.ts';
import { checkDescendingPath } from '../values/path-rules.ts';
import type { FieldReporter } from '../values/field-reporter.ts';

type Volumes = ReadonlyMap<string, JsonObject>;

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];
const RECURSIVE = ['Disabled', 'Enabled', 'IfPossible'];

/**
 * Source: pkg/apis/core/validation (ValidateVolumeMounts). A problem of one mount is reported at
 * the list, as the API server does.
 */
export function checkMounts(container: JsonObject, volumes: Volumes, at: FieldReporter): void {
  const [names, paths] = namesAndPaths(container, 'volumeDevices', 'devicePath');
  const taken = new Set<string>();
  at.each(container, 'volumeMounts', (mount, place) => {
    const [name, path] = [textAt(mount, 'name'), textAt(mount, 'mountPath')];
    if (name === '') place.at('name').required();
    if (!volumes.has(name)) place.at('name').notFound(name);
    if (path === '') place.at('mountPath').required();
    if (taken.has(path)) place.at('mountPath').invalid(path, 'must be unique');
    taken.add(path);
    if (names.has(name)) place.at('name').invalid(name, 'must not already exist in volumeDevices');
    if (paths.has(path))
      place.at('mountPath').invalid(path, 'must not already exist as a path in volumeDevices');
    checkSubPaths(mount, place, at.at('volumeMounts'));
    checkOptions(mount, container, at.at('volumeMounts'));
  });
}

function namesAndPaths(
  container: JsonObject,
  list: string,
  pathKey: string,
): readonly [Set<string>, Set<string>] {
  const found = listAt(container, list).filter(isObject);
  return [
    new Set(found.map((one) => textAt(one, 'name'))),
    new Set(found.map((one) => textAt(one, pathKey))),
  ];
}

function checkSubPaths(mount: JsonObject, at: FieldReporter, list: FieldReporter): void {
  const [path, expression] = [textAt(mount, 'subPath'), textAt(mount, 'subPathExpr')];
  if (path !== '') checkDescendingPath(path, list.at('subPath'));
  if (expression === '') return;
  if (path !== '') at.at('subPathExpr').invalid(expression, 'subPathExpr and subPath are mutually exclusive');
  checkDescendingPath(expression, list.at('subPathExpr'));
}

function checkOptions(mount: JsonObject, container: JsonObject, list: FieldReporter): void {
  const propagation = getOwn(mount, 'mountPropagation');
  const place = list.at('mountPropagation');
  place.oneOfIfPresent(propagation, PROPAGATIONS);
  if (propagation === 'Bidirectional' && objectAt(container, 'securityContext')?.['privileged'] !== true)
    place.forbidden('Bidirectional mount propagation is available only to privileged containers');
  const recursive = getOwn(mount, 'recursiveReadOnly');
  if (typeof recursive !== 'string' || recursive === 'Disabled') return;
  const at = list.at('recursiveReadOnly');
  if (!RECURSIVE.includes(recursive)) {
    at.unsupported(recursive, RECURSIVE);
    return;
  }
  if (mount['readOnly'] !== true) at.forbidden('may only be specified when readOnly is true');
  if (propagation !== undefined && propagation !== 'None')
    at.forbidden('may only be specified when mountPropagation is None or not specified');
}

/** Source: pkg/apis/core/validation (ValidateVolumeDevices). */
export function checkDevices(container: JsonObject, volumes: Volumes, at: FieldReporter): void {
  const [names, paths] = namesAndPaths(container, 'volumeMounts', 'mountPath');
  const [takenNames, takenPaths] = [new Set<string>(), new Set<string>()];
  at.each(container, 'volumeDevices', (device, place) => {
    const [name, path] = [textAt(device, 'name'), textAt(device, 'devicePath')];
    const [nameAt, pathAt] = [place.at('name'), place.at('devicePath')];
    const volume = volumes.get(name);
    if (name === '') nameAt.required();
    if (takenNames.has(name)) nameAt.invalid(name, 'must be unique');
    const isClaim = ['persistentVolumeClaim', 'ephemeral'].some((key) => objectAt(volume, key) !== undefined);
    if (volume === undefined) nameAt.notFound(name);
    else if (!isClaim) {
      const detail = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
      nameAt.invalid(name, detail);
    }
    if (path === '') pathAt.required();
    if (takenPaths.has(path)) pathAt.invalid(path, 'must be unique');
    if (path.split('/').includes('..')) pathAt.invalid(path, "can not contain backsteps ('..')");
    else takenPaths.add(path);
    if (names.has(name)) nameAt.invalid(name, 'must not already exist in volumeMounts');
    if (paths.has(path)) pathAt.invalid(path, 'must not already exist as a path in volumeMounts');
    if (name !== '') takenNames.add(name);
  });
}
