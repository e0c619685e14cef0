import type { CelType } from './cel-type.ts';
import type { CelOverload } from './overload.ts';

/**
 * The variables, with their types, and the functions that an expression may use. Immutable; `with…`
 * returns a new one.
 */
export class CelEnvironment {
  readonly variables: ReadonlyMap<string, CelType>;
  /** Literals may mix types, as in CEL itself; the API server rejects them. */
  readonly mixesTypes: boolean;
  private readonly functions: ReadonlyMap<string, readonly CelOverload[]>;

  private constructor(
    variables: ReadonlyMap<string, CelType>,
    functions: ReadonlyMap<string, readonly CelOverload[]>,
    mixesTypes = false,
  ) {
    this.variables = variables;
    this.functions = functions;
    this.mixesTypes = mixesTypes;
  }

  static of(...libraries: readonly (readonly CelOverload[])[]): CelEnvironment {
    return new CelEnvironment(new Map(), new Map()).withFunctions(libraries.flat());
  }

  withFunctions(overloads: readonly CelOverload[]): CelEnvironment {
    const functions = new Map(this.functions);
    for (const added of overloads) {
      const key = functionKey(added.name, added.isMember);
      functions.set(key, [...(functions.get(key) ?? []), added]);
    }
    return new CelEnvironment(this.variables, functions, this.mixesTypes);
  }

  withVariables(variables: Readonly<Record<string, CelType>>): CelEnvironment {
    const all = new Map([...this.variables, ...Object.entries(variables)]);
    return new CelEnvironment(all, this.functions, this.mixesTypes);
  }

  withMixedLiterals(): CelEnvironment {
    return new CelEnvironment(this.variables, this.functions, true);
  }

  overloads(name: string, isMember: boolean): readonly CelOverload[] | undefined {
    return this.functions.get(functionKey(name, isMember));
  }
}

function functionKey(name: string, isMember: boolean): string {
  return isMember ? `.${name}` : name;
}
