import { GenerateError, withPrefix } from '../failure/failures.ts';
import { combineStringMaps } from '../params/combine-string-maps.ts';
import { mergeParams } from '../params/merge-params.ts';
import type { Params } from '../params/params.ts';
import type { TypedObject } from '../typed/typed-value.ts';
import type { GeneratorContext } from './generator-context.ts';
import type { GenerateChild } from './nested-generator.ts';

/**
 * The matrix generator. It combines every parameter set of the first child with every one of the
 * second child. The second child is rendered with the parameters of the first. In Go mode the
 * values of the first child win. Source: argo-cd applicationset/generators/matrix.go.
 * @throws GenerateError, GoPanic
 */
export function generateMatrix(
  generator: TypedObject,
  { mode }: GeneratorContext,
  generateChild: GenerateChild,
): Params[] {
  const [first, second, ...more] = (generator['generators'] ?? []) as readonly TypedObject[];
  if (first === undefined || second === undefined)
    throw new GenerateError('found less than two generators, Matrix support only two');
  if (more.length > 0) throw new GenerateError('found more than two generators, Matrix support only two');
  const sets = withPrefix('error failed to get params for first generator in matrix generator', () =>
    generateChild(first),
  );
  return sets.flatMap((own) => {
    const others = withPrefix('failed to get params for second generator in the matrix generator', () =>
      generateChild(second, own),
    );
    return others.map((other) => {
      if (!mode.goTemplate)
        return withPrefix('failed to combine string maps with merging params for the matrix generator', () =>
          combineStringMaps(own, other),
        );
      const combined: Params = {};
      mergeParams(combined, other);
      mergeParams(combined, own);
      return combined;
    });
  });
}
