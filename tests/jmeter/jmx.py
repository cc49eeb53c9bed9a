"""The parts of JMeter plans."""

from xml.sax.saxutils import escape, quoteattr


def element(kind: str, name: str = "", properties: dict | None = None, below: str = "") -> str:
    """One element of a JMeter plan with what hangs below it."""
    texts = ""
    for key, value in (properties or {}).items():
        tag = {bool: "boolProp", int: "intProp"}.get(type(value), "stringProp")
        text = str(value).lower() if isinstance(value, bool) else str(value)
        texts += f'<{tag} name="{key}">{escape(text)}</{tag}>'
        if isinstance(value, float):
            texts += f"<FloatProperty><name>{key}</name><value>{value}</value><savedValue>0.0</savedValue></FloatProperty>"
    return f'<{kind} guiclass="x" testclass="{kind}" testname={quoteattr(name)} enabled="true">{texts}</{kind}><hashTree>{below}</hashTree>'


def crowd(name: str, threads: int, seconds: int, steps: str) -> str:
    """A thread group of many threads that loop for so long."""
    more = f'<boolProp name="ThreadGroup.scheduler">true</boolProp><stringProp name="ThreadGroup.duration">{seconds}</stringProp>'
    return group("ThreadGroup", name, -1, steps, threads, more)


def group(kind: str, name: str, loops: int, steps: str, threads: int = 1, more: str = "") -> str:
    """A thread group, of one thread if nothing is said."""
    return (
        f'<{kind} guiclass="x" testclass="{kind}" testname={quoteattr(name)} enabled="true"><stringProp name="ThreadGroup.num_threads">{threads}</stringProp>'
        f'<stringProp name="ThreadGroup.ramp_time">0</stringProp>{more}<elementProp name="ThreadGroup.main_controller" elementType="LoopController">'
        f'<boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">{loops}</stringProp></elementProp></{kind}><hashTree>{steps}</hashTree>'
    )


def plan(groups: str, variables: dict[str, str] | None = None) -> str:
    """A whole plan, whose groups run together."""
    arguments = "".join(
        f'<elementProp name="{name}" elementType="Argument"><stringProp name="Argument.name">{name}</stringProp>'
        f'<stringProp name="Argument.value">{escape(value)}</stringProp><stringProp name="Argument.metadata">=</stringProp></elementProp>'
        for name, value in (variables or {}).items()
    )
    defined = f'<elementProp name="TestPlan.user_defined_variables" elementType="Arguments"><collectionProp name="Arguments.arguments">{arguments}</collectionProp></elementProp>'
    return (
        '<?xml version="1.0" encoding="UTF-8"?><jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>'
        f'<TestPlan guiclass="x" testclass="TestPlan" testname="twins" enabled="true">{defined}</TestPlan><hashTree>{groups}</hashTree></hashTree></jmeterTestPlan>'
    )
