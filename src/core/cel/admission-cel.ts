import type { CelCompilation } from './compile-cel.ts';
import { compileCel } from './compile-cel.ts';
import { KUBERNETES_CEL } from './kubernetes-environment.ts';
import { DYN } from './value/cel-type.ts';

/** What expressions of admission may read: `object`, `oldObject` and `request`. `authorizer` is not known. */
const ADMISSION = KUBERNETES_CEL.withVariables({ object: DYN, oldObject: DYN, request: DYN });
const CACHE_LIMIT = 1000;

const compilations = new Map<string, CelCompilation>();

/** A `matchCondition` of an admission webhook; the value should be a bool. */
export function compileMatchCondition(expression: string): CelCompilation {
  const known = compilations.get(expression);
  if (known !== undefined) return known;
  if (compilations.size >= CACHE_LIMIT) compilations.clear();
  const compilation = compileCel(expression, ADMISSION);
  compilations.set(expression, compilation);
  return compilation;
}
