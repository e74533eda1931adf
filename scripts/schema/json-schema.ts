import { describeNode, isInternal, type TypeDeclarations, type TypeNode } from './type-declarations.ts';

/** A JSON Schema, or a part of one. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The JSON Schema of a TypeScript type. It knows what data is made of: interfaces (also as parts of others, by
 * `extends`, `Omit` and `Pick`), unions, arrays, literals, records, and the types that are taken from a constant or
 * a field.
 *
 * @throws {Error} for any other type.
 */
export function createSchema(root: string, declarations: TypeDeclarations): JsonSchema {
  const defs = new Map<string, JsonSchema>();
  const writer = new SchemaWriter(declarations, defs);
  const { $ref: _, ...schema } = writer.declared(root);
  const definitions = [...defs]
    .filter(([name]) => name !== root)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return { ...schema, ...defs.get(root), $defs: Object.fromEntries(definitions) };
}

/** Reads a property of a constant's value. */
const isNamed = (name: string) => (property: TypeNode) => nameOf(property.key) === name;
const nameOf = (key: TypeNode): string => key.name ?? key.value;

class SchemaWriter {
  readonly #declarations: TypeDeclarations;
  readonly #defs: Map<string, JsonSchema>;

  constructor(declarations: TypeDeclarations, defs: Map<string, JsonSchema>) {
    this.#declarations = declarations;
    this.#defs = defs;
  }

  /** A reference to the schema of a declared type, which is written once. */
  declared(name: string): JsonSchema {
    const found = this.#declarations.types.get(name);
    if (found === undefined) throw new Error(`No exported type is called ${name}`);
    if (!this.#defs.has(name)) {
      this.#defs.set(name, {});
      const { node, description } = found;
      const body =
        node.type === 'TSInterfaceDeclaration'
          ? this.#object(this.#membersOf(node))
          : this.#schema(node.typeAnnotation);
      this.#defs.set(name, { ...(description === '' ? {} : { description }), ...body });
    }
    return { $ref: `#/$defs/${name}` };
  }

  /** The members of an interface, after those of the interfaces that it extends. */
  #membersOf({ body, extends: parents }: TypeNode): readonly TypeNode[] {
    const inherited = (parents ?? []).flatMap(({ expression, typeParameters }: TypeNode) =>
      this.#inherit(expression.name, typeParameters?.params),
    );
    return [...inherited, ...body.body].filter((member) => !isInternal(member));
  }

  /** The members that an interface inherits: all, or those that `Omit` and `Pick` choose. */
  #inherit(name: string, [given, keys]: readonly TypeNode[] = []): readonly TypeNode[] {
    if (given === undefined) return this.#membersOf(this.#interface(name));
    if (keys === undefined || (name !== 'Omit' && name !== 'Pick')) {
      throw new Error(`No schema for an interface that extends ${name} with types`);
    }
    const chosen = keys.type === 'TSUnionType' ? keys.types : [keys];
    const names = chosen.map(({ literal }: TypeNode) => literal.value);
    const members = this.#membersOf(this.#interface(given.typeName.name));
    return members.filter(({ key }) => names.includes(nameOf(key)) === (name === 'Pick'));
  }

  #interface(name: string): TypeNode {
    const node = this.#declarations.types.get(name)?.node;
    if (node?.type === 'TSInterfaceDeclaration') return node;
    throw new Error(`No exported interface is called ${name}`);
  }

  #schema(node: TypeNode): JsonSchema {
    switch (node.type) {
      case 'TSStringKeyword':
        return { type: 'string' };
      case 'TSNumberKeyword':
        return { type: 'number' };
      case 'TSBooleanKeyword':
        return { type: 'boolean' };
      case 'TSNullKeyword':
        return { type: 'null' };
      case 'TSLiteralType':
        return { const: node.literal.value };
      case 'TSArrayType':
        return { type: 'array', items: this.#schema(node.elementType) };
      case 'TSTypeLiteral':
        return this.#object(node.members);
      case 'TSUnionType':
        return this.#union(node.types);
      case 'TSTypeReference':
        return this.#reference(node);
      case 'TSParenthesizedType':
        return this.#schema(node.typeAnnotation);
      case 'TSTypeQuery':
        return { const: this.#value(node.exprName).value };
      case 'TSTypeOperator':
        return node.operator === 'keyof'
          ? this.#keys(node.typeAnnotation)
          : this.#schema(node.typeAnnotation);
      case 'TSIndexedAccessType':
        return node.objectType.type === 'TSTypeReference'
          ? this.#field(node)
          : this.#elements(node.objectType);
      default:
        throw new Error(`No schema for a ${node.type}`);
    }
  }

  #object(members: readonly TypeNode[]): JsonSchema {
    const properties = members.map((member) => {
      const description = describeNode(member);
      const schema = this.#schema(member.typeAnnotation.typeAnnotation);
      return [nameOf(member.key), { ...(description === '' ? {} : { description }), ...schema }] as const;
    });
    const required = members.filter(({ optional }) => !optional).map(({ key }) => nameOf(key));
    return {
      type: 'object',
      properties: Object.fromEntries(properties),
      required,
      additionalProperties: false,
    };
  }

  #union(types: readonly TypeNode[]): JsonSchema {
    const schemas = types.map((type) => this.#schema(type));
    if (schemas.every((schema) => 'const' in schema)) {
      return { type: 'string', enum: schemas.map((schema) => schema.const) };
    }
    const isPlain = schemas.every((schema) => Object.keys(schema).join() === 'type');
    return isPlain ? { type: schemas.map(({ type }) => type) } : { anyOf: schemas };
  }

  #reference({ typeName, typeParameters }: TypeNode): JsonSchema {
    const [first, second] = typeParameters?.params ?? [];
    if (typeName.name === 'Readonly') return this.#schema(first);
    if (typeName.name === 'Partial') {
      const { required: _, ...schema } = this.#schema(first);
      return schema;
    }
    if (typeName.name !== 'Record') return this.declared(typeName.name);
    const { $ref } = this.#schema(first);
    const keys = this.#defs.get(String($ref).replace('#/$defs/', ''))?.enum as readonly string[];
    const properties = Object.fromEntries(keys.map((key) => [key, this.#schema(second)]));
    return { type: 'object', properties, required: keys, additionalProperties: false };
  }

  /** `keyof typeof X`. */
  #keys({ exprName }: TypeNode): JsonSchema {
    return { type: 'string', enum: this.#value(exprName).properties.map(({ key }: TypeNode) => nameOf(key)) };
  }

  /** `X['field']`. */
  #field({ objectType, indexType }: TypeNode): JsonSchema {
    const members = this.#membersOf(this.#interface(objectType.typeName.name));
    const found = members.find(isNamed(indexType.literal.value));
    if (found === undefined) throw new Error(`No field is called ${indexType.literal.value}`);
    return this.#schema(found.typeAnnotation.typeAnnotation);
  }

  /** `(typeof X)[number]`. */
  #elements(node: TypeNode): JsonSchema {
    const { exprName } = node.type === 'TSParenthesizedType' ? node.typeAnnotation : node;
    return { type: 'string', enum: this.#value(exprName).elements.map(({ value }: TypeNode) => value) };
  }

  /** The value of `X` or `X.y`. */
  #value(name: TypeNode): TypeNode {
    if (name.type !== 'TSQualifiedName') return this.#declarations.values.get(name.name) as TypeNode;
    return this.#value(name.left).properties.find(isNamed(name.right.name)).value;
  }
}
