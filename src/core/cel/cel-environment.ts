import type { CelType } from './cel-type.ts';
import type { CelOverload } from './overload.ts';

/** What an expression may name: variables with their types, and functions by name. Immutable; `with…` gives a new one. */
export class CelEnvironment {
  readonly variables: ReadonlyMap<string, CelType>;
  private readonly functions: ReadonlyMap<string, readonly CelOverload[]>;

  private constructor(
    variables: ReadonlyMap<string, CelType>,
    functions: ReadonlyMap<string, readonly CelOverload[]>,
  ) {
    this.variables = variables;
    this.functions = functions;
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
    return new CelEnvironment(this.variables, functions);
  }

  withVariables(variables: Readonly<Record<string, CelType>>): CelEnvironment {
    return new CelEnvironment(new Map([...this.variables, ...Object.entries(variables)]), this.functions);
  }

  overloads(name: string, isMember: boolean): readonly CelOverload[] | undefined {
    return this.functions.get(functionKey(name, isMember));
  }
}

function functionKey(name: string, isMember: boolean): string {
  return isMember ? `.${name}` : name;
}
