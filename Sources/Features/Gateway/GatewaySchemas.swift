import AgentCore
import Gateway
import Groundwork
import LocalAPI

/// Schemas of the board's state at a gateway.
extension Schema {
    package static var certificate: Schema {
        named(
            "Certificate",
            GatewayStatus.certificateAnswer.schema("The device certificate; without members if there is none"))
    }

    package static var registration: Schema { named("Registration", GatewayStatus.registrationAnswer.schema()) }

    /// The status members that come from the gateway's session.
    package static var gatewayMembers: [String: Schema] {
        GatewayStatus.answer.schemas.merging(["start": start]) { own, _ in own }
    }

    /// Whether what talks to the gateway runs, and in whose name.
    package static var start: Schema {
        named(
            "Start",
            .object(
                StartState.schemas.merging([
                    "authentication": .string(
                        "whether a user is logged in, only the board itself has a token, or neither",
                        choices: Authentication.allCases.map(\.rawValue))
                ]) { own, _ in own }, required: ["state", "state_ios", "state_android"]))
    }

    package static var gatewayStatus: Schema {
        named(
            "GatewayStatus",
            .object(
                gatewayMembers.merging(["switchedFrom": gatewayAddress]) { own, _ in own },
                required: GatewayStatus.answer.required,
                "The state of the board at its gateway"))
    }

    package static var gatewayAddress: Schema {
        Schema.object(all: ["url": .string("URL of the gateway")], "Another gateway; its registration is kept")
    }
}
