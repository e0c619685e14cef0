import type { FieldReporter } from './field-reporter.ts';

/** Paths of files in volumes and containers. */
export function checkNoBacksteps(path: string, at: FieldReporter): void {
  if (path.split('/').includes('..')) at.invalid(path, "must not contain '..'");
}

/** A path below another one. */
export function checkDescendingPath(path: string, at: FieldReporter): void {
  if (path.startsWith('/')) at.invalid(path, 'must be a relative path');
  checkNoBacksteps(path, at);
}

/** A relative path in a volume. Names that start with `..` are reserved for the kubelet. */
export function checkVolumePath(path: string, at: FieldReporter): void {
  checkDescendingPath(path, at);
  if (path.startsWith('..') && !path.startsWith('../')) at.invalid(path, "must not start with '..'");
}
