import type { KubeObject } from '@berth/kube/model/object-meta';
import { isObject, type JsonObject, listAt, objectAt, textAt } from '@berth/runtime/json/json-value';

/** A generator that reads decisions, at any depth of an ApplicationSet. */
export type DecisionGenerator = {
  /** `NAMESPACE/NAME` */
  readonly applicationSet: string;
  /** The path to the generator in the form of `kubectl patch --type=json`: `/spec/generators/0/plugin`. */
  readonly path: string;
  readonly configMap: string;
  readonly requeueAfterSeconds: number | undefined;
} & (
  | { readonly kind: 'plugin'; readonly parameters: JsonObject }
  | {
      readonly kind: 'clusterDecisionResource';
      readonly name: string;
      readonly labels: Readonly<Record<string, string>>;
    }
);

/** The plugin and clusterDecisionResource generators of an ApplicationSet, including those inside of matrix and merge. */
export function decisionGenerators({ metadata, spec }: KubeObject): readonly DecisionGenerator[] {
  const applicationSet = `${metadata.namespace ?? ''}/${metadata.name}`;
  const found: DecisionGenerator[] = [];
  const collect = (parent: JsonObject | undefined, path: string): void => {
    for (const [index, generator] of listAt(parent, 'generators').entries()) {
      if (!isObject(generator)) continue;
      const ownPath = `${path}/generators/${index}`;
      const { plugin, clusterDecisionResource } = generator;
      if (plugin !== undefined)
        found.push(pluginGenerator(objectAt(generator, 'plugin'), applicationSet, `${ownPath}/plugin`));
      if (clusterDecisionResource !== undefined) {
        const resource = objectAt(generator, 'clusterDecisionResource');
        found.push(decisionResource(resource, applicationSet, `${ownPath}/clusterDecisionResource`));
      }
      for (const key of ['matrix', 'merge']) collect(objectAt(generator, key), `${ownPath}/${key}`);
    }
  };
  collect(isObject(spec) ? spec : undefined, '/spec');
  return found;
}

function pluginGenerator(
  plugin: JsonObject | undefined,
  applicationSet: string,
  path: string,
): DecisionGenerator {
  return {
    kind: 'plugin',
    applicationSet,
    path,
    configMap: textAt(objectAt(plugin, 'configMapRef'), 'name'),
    requeueAfterSeconds: requeueOf(plugin),
    parameters: objectAt(objectAt(plugin, 'input'), 'parameters') ?? {},
  };
}

function decisionResource(
  resource: JsonObject | undefined,
  applicationSet: string,
  path: string,
): DecisionGenerator {
  const labels = objectAt(objectAt(resource, 'labelSelector'), 'matchLabels') ?? {};
  return {
    kind: 'clusterDecisionResource',
    applicationSet,
    path,
    configMap: textAt(resource, 'configMapRef'),
    requeueAfterSeconds: requeueOf(resource),
    name: textAt(resource, 'name'),
    labels: Object.fromEntries(Object.keys(labels).map((key) => [key, textAt(labels, key)])),
  };
}

function requeueOf(generator: JsonObject | undefined): number | undefined {
  const seconds = generator?.['requeueAfterSeconds'];
  return typeof seconds === 'number' ? seconds : undefined;
}
