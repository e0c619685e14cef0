import type { JsonObject } from '../../json/json-value.ts';
import { getOwn, listAt, numberAt, objectAt, textAt, textsAt } from '../../json/json-value.ts';
import { checkDescendingPath } from '../values/path-rules.ts';
import type { FieldReporter } from '../values/field-reporter.ts';

const MAX_ID = 2 ** 31 - 1;
const PROFILES = ['Localhost', 'RuntimeDefault', 'Unconfined'];
const MAX_PROFILE_LENGTH = 4095;
const PROC_MOUNTS = ['Default', 'Unmasked'];
const GROUP_POLICIES = ['Always', 'OnRootMismatch'];
const SUPPLEMENTAL_POLICIES = ['Merge', 'Strict'];
const SELINUX_POLICIES = ['MountOption', 'Recursive'];
const SYSCTL_LIMIT = 253;
const SYSCTL_PATTERN = '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';
const SYSCTL = new RegExp(SYSCTL_PATTERN);

/**
 * Source: pkg/apis/core/validation (validatePodSpecSecurityContext).
 * @param spec of the pod
 */
export function checkPodSecurity(spec: JsonObject, at: FieldReporter): void {
  const context = objectAt(spec, 'securityContext') ?? {};
  const place = at.at('securityContext');
  checkId(context, 'fsGroup', place);
  checkId(context, 'runAsUser', place);
  checkId(context, 'runAsGroup', place);
  for (const [index, group] of listAt(context, 'supplementalGroups').entries())
    if (typeof group === 'number') place.at('supplementalGroups').at(index).inRange(group, 0, MAX_ID);
  if (spec['shareProcessNamespace'] === true && spec['hostPID'] === true) {
    const detail = 'ShareProcessNamespace and HostPID cannot both be enabled';
    place.at('shareProcessNamespace').invalid(true, detail);
  }
  checkSysctls(spec, context, place);
  place.at('fsGroupChangePolicy').oneOfIfPresent(getOwn(context, 'fsGroupChangePolicy'), GROUP_POLICIES);
  checkProfiles(context, place);
  const supplemental = getOwn(context, 'supplementalGroupsPolicy');
  place.at('supplementalGroupsPolicy').oneOfIfPresent(supplemental, SUPPLEMENTAL_POLICIES);
  place.at('seLinuxChangePolicy').oneOfIfPresent(getOwn(context, 'seLinuxChangePolicy'), SELINUX_POLICIES);
}

function checkId(context: JsonObject, key: string, at: FieldReporter): void {
  const id = numberAt(context, key);
  if (id !== undefined) at.at(key).inRange(id, 0, MAX_ID);
}

function checkSysctls(spec: JsonObject, context: JsonObject, at: FieldReporter): void {
  const names = new Set<string>();
  at.each(context, 'sysctls', (sysctl, item) => {
    const name = textAt(sysctl, 'name');
    const place = item.at('name');
    const detail = `must have at most ${String(SYSCTL_LIMIT)} characters and match regex ${SYSCTL_PATTERN}`;
    if (name === '') place.required();
    else if (name.length > SYSCTL_LIMIT || !SYSCTL.test(name)) place.invalid(name, detail);
    else if (names.has(name)) place.duplicate(name);
    names.add(name);
    if (spec['hostNetwork'] === true && /^net[./]/.test(name))
      place.invalid(name, "may not be specified when 'hostNetwork' is true");
    else if (spec['hostIPC'] === true && /^(kernel[./](shm|msg|sem)|fs[./]mqueue[./])/.test(name))
      place.invalid(name, "may not be specified when 'hostIPC' is true");
  });
}

/**
 * Source: pkg/apis/core/validation (ValidateSecurityContext).
 * @param hostUsers whether the pod has the users of its node
 */
export function checkContainerSecurity(container: JsonObject, hostUsers: boolean, at: FieldReporter): void {
  const context = objectAt(container, 'securityContext');
  if (context === undefined) return;
  const place = at.at('securityContext');
  for (const key of ['runAsUser', 'runAsGroup']) checkId(context, key, place);
  const procMount = getOwn(context, 'procMount');
  if (typeof procMount === 'string') {
    if (!PROC_MOUNTS.includes(procMount)) place.at('procMount').unsupported(procMount, PROC_MOUNTS);
    if (hostUsers && procMount === 'Unmasked')
      place.at('procMount').invalid(procMount, '`hostUsers` must be false to use `Unmasked`');
  }
  checkSeccomp(context, place);
  if (context['allowPrivilegeEscalation'] === false) {
    const cannot = 'cannot set `allowPrivilegeEscalation` to false and';
    if (context['privileged'] === true) place.invalid(context, `${cannot} \`privileged\` to true`);
    if (textsAt(objectAt(context, 'capabilities'), 'add').includes('CAP_SYS_ADMIN'))
      place.invalid(context, `${cannot} \`capabilities.Add\` CAP_SYS_ADMIN`);
  }
  checkAppArmor(context, place);
}

function checkProfiles(context: JsonObject, at: FieldReporter): void {
  checkSeccomp(context, at);
  checkAppArmor(context, at);
}

function checkSeccomp(context: JsonObject, at: FieldReporter): void {
  const profile = objectAt(context, 'seccompProfile');
  if (profile === undefined) return;
  const place = at.at('seccompProfile');
  const [type, path] = [textAt(profile, 'type'), getOwn(profile, 'localhostProfile')];
  if (type === '') place.at('type').required('type is required when seccompProfile is set');
  else if (!PROFILES.includes(type)) place.at('type').unsupported(type, PROFILES);
  const file = place.at('localhostProfile');
  if (type !== 'Localhost') {
    if (path !== undefined) file.invalid(profile, 'can only be set when seccomp type is Localhost');
  } else if (typeof path === 'string') checkDescendingPath(path, file);
  else file.required('must be set when seccomp type is Localhost');
}

function checkAppArmor(context: JsonObject, at: FieldReporter): void {
  const profile = objectAt(context, 'appArmorProfile');
  if (profile === undefined) return;
  const place = at.at('appArmorProfile');
  const [type, path] = [textAt(profile, 'type'), getOwn(profile, 'localhostProfile')];
  const file = place.at('localhostProfile');
  if (type === '') place.at('type').required('type is required when appArmorProfile is set');
  else if (!PROFILES.includes(type)) place.at('type').unsupported(type, PROFILES);
  else if (type !== 'Localhost') {
    if (path !== undefined) file.invalid(path, 'can only be set when AppArmor type is Localhost');
  } else if (typeof path !== 'string' || path === '')
    file.required('must be set when AppArmor type is Localhost');
  else if (path.trim() !== path) file.invalid(path, 'must not be padded with whitespace');
  else if (path.length > MAX_PROFILE_LENGTH) file.tooLong(MAX_PROFILE_LENGTH);
}
