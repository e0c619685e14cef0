/** A schema of an OpenAPI document (v2 or v3), as far as tests look into it. */
export interface OpenApiSchema {
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: OpenApiSchemas;
  readonly items?: OpenApiSchema;
  readonly additionalProperties?: boolean | OpenApiSchema;
  readonly 'x-kubernetes-group-version-kind'?: readonly object[];
  readonly [keyword: string]: unknown;
}

export type OpenApiSchemas = Readonly<Record<string, OpenApiSchema>>;

/** What can be done at a path with one method. */
interface OpenApiOperation {
  readonly consumes?: readonly string[];
  readonly parameters: readonly { readonly name: string }[];
  readonly responses: Readonly<Record<string, { readonly schema?: OpenApiSchema }>>;
  readonly 'x-kubernetes-group-version-kind'?: object;
}

export type OpenApiPaths = Readonly<Record<string, Readonly<Record<'get' | 'patch', OpenApiOperation>>>>;

/** Every `$ref` of a document. */
export function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, below]) =>
    key === '$ref' && typeof below === 'string' ? [below] : references(below),
  );
}
