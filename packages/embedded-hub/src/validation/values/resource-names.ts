import { qualifiedName } from '@berth/kube/model/selector/name-rules';
import type { FieldReporter } from './field-reporter.ts';

/* Resource names of quotas and limits. Source: pkg/apis/core/helper. */

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
const CONTAINER = new Set(COMPUTE);
const COUNTS = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const INTEGERS = new Set(COUNTS);
const QUOTA = new Set([
  ...COMPUTE,
  ...COMPUTE.map((name) => `requests.${name}`),
  ...COMPUTE.map((name) => `limits.${name}`),
  'requests.storage',
  ...COUNTS,
]);
/**
 * `storage` is not valid in a quota, and a limit of ephemeral storage is not a standard object
 * resource.
 */
const STANDARD = new Set([...[...QUOTA].filter((name) => name !== 'limits.ephemeral-storage'), 'storage']);

const NATIVE_PREFIX = 'kubernetes.io/';

export const isHugePage = (name: string): boolean => name.startsWith('hugepages-');
const isQuotaHugePage = (name: string): boolean => isHugePage(name) || name.startsWith('requests.hugepages-');
const isNative = (name: string): boolean => !name.includes('/') || name.includes(NATIVE_PREFIX);

export function isExtended(name: string): boolean {
  if (isNative(name) || name.startsWith('requests.')) return false;
  return qualifiedName(`requests.${name}`).length === 0;
}

/** Whether a request may be smaller than its limit. */
export const isOvercommitAllowed = (name: string): boolean => isNative(name) && !isHugePage(name);
export const isIntegerResource = (name: string): boolean => INTEGERS.has(name) || isExtended(name);
export const isStandardQuota = (name: string): boolean => QUOTA.has(name) || isQuotaHugePage(name);

/** Source: pkg/apis/core/validation (ValidateResourceName). */
export function checkResourceName(name: string, at: FieldReporter): void {
  const known = at.problems.length;
  at.validName(name, qualifiedName);
  if (at.problems.length > known) return;
  if (name.includes('/') || STANDARD.has(name) || isQuotaHugePage(name)) return;
  at.invalid(name, 'must be a standard resource type or fully qualified');
}

export function checkContainerResourceName(name: string, at: FieldReporter): void {
  checkResourceName(name, at);
  if (!name.includes('/')) {
    if (!CONTAINER.has(name) && !isHugePage(name))
      at.invalid(name, 'must be a standard resource for containers');
  } else if (!isNative(name) && !isExtended(name))
    at.invalid(name, "doesn't follow extended resource name standard");
}

export function checkQuotaResourceName(name: string, at: FieldReporter): void {
  checkResourceName(name, at);
  if (!name.includes('/') && !isStandardQuota(name))
    at.invalid(name, 'must be a standard resource for quota');
}
